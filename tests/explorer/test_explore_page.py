"""The page of `embeddings explore` in a headless browser."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from explorer_server import Server
from headless_browser import browser, executable

import embeddings as em

MISSING = [name for name in ("websocket", "axe_core_python", "openTSNE") if find_spec(name) is None]
MISSING += [] if executable() else ["chromium (for instance by apt-get install chromium, or its path in CHROMIUM)"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING), reason=f"requires {', '.join(MISSING)}"),
    pytest.mark.skipif(sys.platform == "win32", reason="the browser is driven by files that it writes elsewhere there"),
]
HOSTILE = "<img/src=x>\u202e"
ANIMALS, PEOPLE = ("dog", "cat", "cow", "dove", "hippopotamus" * 3), ("king", "queen", "kid")
TEXT = "".join(
    f"the {one} {verb} the {thing}\n"
    for group, verb, thing in ((ANIMALS, "eats", "bone"), (PEOPLE, "rules", "land"))
    for one in (*group, HOSTILE)
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The command with a text and replicates, for words some of which would be HTML."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "text.txt").write_text(TEXT * 40, encoding="utf-8")
    corpus = em.Corpus(folder / "text.txt", tokenizer="whitespace")
    model = em.train("fasttext", corpus, dim=8, min_count=1, epochs=3, threads=1, buckets=100)
    model.save(folder / "model")
    em.analysis.stability(model, corpus, resamples=2, seeds=0, resample_by="lines", threads=1).save(
        folder / "replicates"
    )
    em.TextIndex.build(model, [f"a king {HOSTILE}", "a dog"], folder / "texts.index")
    running = Server(
        folder / "model", "--texts", folder / "texts.index", "--corpus", folder / "text.txt",
        "--confidence", folder / "replicates", "--groups", 3,
        EMBEDDINGS_CACHE=str(folder),
    )  # fmt: skip
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.fixture(scope="module")
def tab():
    """The browser."""
    with browser() as page:
        yield page


@pytest.fixture
def page(tab, server):
    """The page, opened anew; each test ends without messages in the console and requests elsewhere."""
    tab.show()
    tab.requests.clear()
    tab.problems.clear()
    tab.call("Page.navigate", url="about:blank")
    tab.open(server.address)
    tab.until("document.querySelector('#facts')?.textContent")
    yield tab
    assert tab.problems == []
    assert {urlsplit(one).netloc for one in tab.requests if one != "about:blank"} == {f"127.0.0.1:{server.port}"}
    assert all(server.token not in one for one in tab.requests if not one.startswith(server.address))


def options(page):
    """The completions that are shown."""
    return page.run(
        "[...document.querySelectorAll('[role=option]')].filter((one) => one.offsetParent).map((one) => one.innerText)"
    )


def title(page, panel="neighbours"):
    return page.text(f"#{panel} h2")


def announced(page, text):
    page.until(f"document.querySelector('#status').textContent.includes({json.dumps(text)})")


def ready(page):
    page.until(
        "document.querySelector('#map').dataset.state === 'ready' && document.querySelector('#map').dataset.zoom"
    )


def test_the_token_leaves_the_address_and_a_reload_works(page, server):
    assert page.run("location.hash + location.search") == ""
    page.call("Page.reload")
    page.until("document.querySelector('#facts')?.textContent.includes('dimensions')")


def test_neighbours_while_typing(page):
    page.write("#word", "kin")
    page.until("document.querySelectorAll('[role=option]').length")
    assert options(page) == ["king"]
    assert title(page) == ""
    page.call("Input.insertText", text="g")
    page.until("document.querySelector('#neighbours h2')?.innerText === 'king'")
    announced(page, "neighbours of king")
    assert "occurrences" in page.text("#neighbours .title")
    page.until("document.querySelector('#neighbours .keyword')")


def test_completions_by_keys_alone(page):
    assert page.run("document.activeElement.id") == "word"
    page.write("#word", "d")
    page.until("document.querySelectorAll('[role=option]').length")
    assert sorted(options(page)) == ["dog", "dove"]
    marked = "document.querySelector('[role=option][aria-selected=true]')"
    page.press("ArrowDown")
    assert page.run(f"{marked}.id === document.activeElement.getAttribute('aria-activedescendant')")
    page.press("ArrowUp")
    assert page.run(f"{marked} === null")
    page.press("ArrowUp")
    chosen = page.run(f"{marked}.innerText")
    assert chosen == options(page)[-1]
    page.press("Enter")
    page.until(f"document.querySelector('#neighbours h2')?.innerText === '{chosen}'")
    assert page.run("document.querySelector('#word').getAttribute('aria-expanded')") == "false"
    assert options(page) == []
    page.write("#word", "k")
    page.until("document.querySelectorAll('[role=option]').length")
    page.press("Escape")
    assert options(page) == []
    assert page.run("document.querySelector('#word').value") == "k"


def test_a_completion_is_chosen_by_the_mouse(page):
    page.write("#word", "que")
    page.until("document.querySelector('[role=option]')?.innerText === 'queen'")
    page.click("[role=option]")
    page.until("document.querySelector('#neighbours h2')?.innerText === 'queen'")


def test_words_of_other_forms(page):
    page.write("#word", "kings")
    page.press("Enter")
    page.until("document.querySelector('#neighbours h2')?.innerText === 'kings'")
    assert "composed" in page.text("#neighbours .title")
    page.write("#word", "<img")
    page.until("document.querySelectorAll('[role=option]').length")
    page.press("ArrowDown", "Enter")
    page.until("document.querySelector('#neighbours h2')?.innerText.startsWith('<img')")
    assert page.run("document.querySelectorAll('main img').length") == 0


def test_tabs_and_an_analogy_by_keys(page):
    page.focus("#tab-neighbours")
    page.press("ArrowRight")
    assert page.run("document.activeElement.id") == "tab-analogy"
    assert page.run("document.querySelector('#panel-neighbours').hidden")
    page.press("Tab")
    for word in ("king", "queen"):
        page.call("Input.insertText", text=word)
        page.press("Tab")
    page.call("Input.insertText", text="dog")
    page.press("Enter")
    page.until("document.querySelector('#analogy table')")
    assert title(page, "analogy").startswith("king : queen = dog : ")
    announced(page, "The best answer is")


def test_two_words_compared_with_evidence(page):
    page.click("#tab-compare")
    page.write("#compare-a", "king")
    page.press("Enter")
    page.write("#compare-b", "queen")
    page.press("Enter")
    page.until("document.querySelector('#compare .concordance')")
    assert title(page, "compare") == "king and queen"
    text = page.text("#compare")
    assert all(
        fact in text for fact in ("Cosine", "95 % interval", "Rank of queen near king", "Shared neighbours", "PMI")
    )


def test_compare_and_go_on_from_a_neighbour(page):
    page.write("#word", "cat")
    announced(page, "neighbours of cat")
    page.until("!document.querySelector('[role=option]')")
    other = page.run("document.querySelector('#neighbours .word').innerText")
    page.click("#neighbours .quiet")
    page.until("document.querySelector('#compare h2')")
    assert title(page, "compare") == f"cat and {other}"
    page.click("#tab-neighbours")
    page.click("#neighbours .word")
    page.until(f"document.querySelector('#neighbours h2').innerText === {json.dumps(other)}")


def test_the_map_with_keys_mouse_and_table(page):
    ready(page)
    zoom = "Number(document.querySelector('#map').dataset.zoom)"
    page.focus("#map")
    page.press("+", "+", "ArrowLeft")
    page.until(f"{zoom} > 1.9")
    announced(page, "In the centre:")
    page.press("Enter")
    page.until("document.querySelector('#neighbours h2')?.innerText")
    page.focus("#map")
    page.press("0")
    page.until(f"{zoom} === 1")
    left, top, width, height = page.box("#map")
    page.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-300)
    page.until(f"{zoom} > 1.2")
    page.click("#zoom-reset")
    page.until(f"{zoom} === 1")
    page.click("#table-details summary")
    page.until("document.querySelectorAll('#map-table tbody tr').length > 5")
    page.click("#map-table .word")
    page.until(
        "document.querySelector('#neighbours h2').innerText === document.querySelector('#map-table .word').innerText"
    )


def test_points_of_the_map_are_drawn_and_lead_to_their_word(page, server):
    ready(page)
    state = server.answer("map")
    left, top, width, height = page.box("#map")
    side = min(width, height) - 2 * 28
    row = state["words"].index("king")
    x, y = (state["points"][2 * row + i] / state["scale"] for i in (0, 1))
    place = left + width / 2 + (x - 0.5) * side, top + height / 2 + (y - 0.5) * side
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        page.mouse(kind, *place, **({} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}))
    page.until("document.querySelector('#neighbours h2')?.innerText === 'king'")
    colours = (
        "new Set(new Uint32Array(map.getContext('2d').getImageData(0, 0, map.width, map.height).data.buffer)).size"
    )
    page.until(f"{colours} > 20")


def test_one_group_of_the_map(page):
    ready(page)
    page.click("#legend button")
    assert page.run("document.querySelector('#legend button').getAttribute('aria-pressed')") == "true"
    announced(page, "Only the group")
    page.click("#legend button")
    announced(page, "All groups")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_accessibility(page, dark, width):
    page.show(width, 860, dark=dark)
    ready(page)
    page.write("#word", "king")
    page.press("Enter")
    page.until("document.querySelector('#neighbours .concordance')")
    page.click("#table-details summary")
    page.until("document.querySelector('#map-table table')")
    assert page.violations() == []
    page.write("#word", "q")
    page.until("document.querySelectorAll('[role=option]').length")
    page.press("ArrowDown")
    assert page.violations() == []
    page.press("Escape")
    for tab, button in (("analogy", "abc"), ("compare", "ab")):
        page.click(f"#tab-{tab}")
        for name, word in zip(button, ("king", "queen", "dog"), strict=False):
            page.write(f"#{tab}-{name}", word)
        page.press("Enter")
        page.until(f"document.querySelector('#{tab} table')")
        assert page.violations() == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_focus_is_visible_and_reaches_everything(page):
    ready(page)
    page.run("document.activeElement.blur()")
    seen = set()
    for _ in range(40):
        page.press("Tab")
        seen.add(page.run("document.activeElement.id || document.activeElement.tagName"))
        outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.run("document.activeElement === document.body")
    assert seen >= {"word", "tab-neighbours", "zoom-in", "zoom-out", "zoom-reset", "map", "SUMMARY"}


def test_the_page_says_what_is_wrong(tab, server):
    """Without the token, and after the end of the command."""
    tab.call("Page.navigate", url="about:blank")
    tab.run("1")
    tab.open(f"http://localhost:{server.port}/")  # another origin, without the token of the session
    tab.until("document.querySelector('#problem')?.textContent.includes('token')")
    other = Server(Path(server.process.args[4]), "--projection", "pca")
    tab.open(other.address)
    tab.until("document.querySelector('#map')?.dataset.state === 'ready'")
    other.end()
    tab.write("#word", "kin")
    tab.until("document.querySelector('#problem')?.textContent.includes('has ended')")


def test_texts_are_searched_and_shown_as_text(page):
    page.click("#tab-search")
    page.write("#query", "King")
    page.press("Enter")
    page.until("document.querySelector('#search mark')?.innerText === 'king'")
    assert HOSTILE in page.text("#search table")
    assert page.run("document.querySelectorAll('main img').length") == 0
    announced(page, "text")

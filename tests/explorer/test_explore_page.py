"""The page of `embeddings explore` in a headless browser."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from explorer_server import Server
from headless_browser import browser, executable, show, until

import embeddings as em

MISSING = [name for name in ("playwright", "axe_core_python", "openTSNE") if find_spec(name) is None]
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


REQUESTS, PROBLEMS = [], []  # the addresses of all requests, and messages of the console and errors


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
        page.on("request", lambda request: REQUESTS.append(request.url))
        page.on("pageerror", lambda error: PROBLEMS.append(error))
        page.on("console", lambda message: message.type in ("error", "warning", "assert") and PROBLEMS.append(message))
        yield page


@pytest.fixture
def page(tab, server):
    """The page, opened anew; each test ends without messages in the console and requests elsewhere."""
    show(tab)
    tab.goto("about:blank")
    REQUESTS.clear()
    PROBLEMS.clear()
    tab.goto(server.address)
    until(tab, "document.querySelector('#facts')?.textContent")
    yield tab
    assert PROBLEMS == []
    assert {urlsplit(one).netloc for one in REQUESTS} == {f"127.0.0.1:{server.port}"}
    assert all(server.token not in one for one in REQUESTS if not one.startswith(server.address))


def violations(page):
    """The rules of axe-core that the page breaks, with the elements."""
    from axe_core_python.sync_playwright import Axe

    found = Axe().run(page)["violations"]
    return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]]) for one in found]


def options(page):
    """The completions that are shown."""
    return page.evaluate(
        "[...document.querySelectorAll('[role=option]')].filter((one) => one.offsetParent).map((one) => one.innerText)"
    )


def title(page, panel="neighbours"):
    return "".join(page.locator(f"#{panel} h2").all_inner_texts())


def announced(page, text):
    until(page, f"document.querySelector('#status').textContent.includes({json.dumps(text)})")


def ready(page):
    until(
        page, "document.querySelector('#map').dataset.state === 'ready' && document.querySelector('#map').dataset.zoom"
    )


def test_the_token_leaves_the_address_and_a_reload_works(page, server):
    assert page.evaluate("location.hash + location.search") == ""
    page.reload()
    until(page, "document.querySelector('#facts')?.textContent.includes('dimensions')")


def test_neighbours_while_typing(page):
    page.fill("#word", "kin")
    until(page, "document.querySelectorAll('[role=option]').length")
    assert options(page) == ["king"]
    assert title(page) != "king"
    page.keyboard.type("g")
    until(page, "document.querySelector('#neighbours h2')?.innerText === 'king'")
    announced(page, "neighbours of king")
    assert "occurrences" in page.inner_text("#neighbours .title")
    until(page, "document.querySelector('#lines .keyword')?.innerText === 'king'")


@pytest.mark.parametrize("width", [1300, 400])
def test_an_example_is_shown_at_once_with_its_word_in_the_middle_of_the_lines(page, width):
    show(page, width)
    until(page, "document.querySelector('#lines .keyword')")
    assert title(page) == page.evaluate("document.querySelector('#word').value") != ""
    until(page, "document.querySelectorAll('#lines .concordance tbody tr').length > 5")
    place = "(([one]) => { const box = one.getBoundingClientRect(); return [box.left, box.right]; })"
    row = "document.querySelectorAll('#lines tbody tr')"
    left, right = page.evaluate(f"{place}({row})")
    start, end = page.evaluate(f"{place}(document.querySelectorAll('#lines .keyword'))")
    assert 0 <= left < start < end < right <= width
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_completions_by_keys_alone(page):
    assert page.evaluate("document.activeElement.id") == "word"
    page.fill("#word", "d")
    until(page, "document.querySelectorAll('[role=option]').length")
    assert sorted(options(page)) == ["dog", "dove"]
    marked = "document.querySelector('[role=option][aria-selected=true]')"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{marked}.id === document.activeElement.getAttribute('aria-activedescendant')")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(f"{marked} === null")
    page.keyboard.press("ArrowUp")
    chosen = page.evaluate(f"{marked}.innerText")
    assert chosen == options(page)[-1]
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('#neighbours h2')?.innerText === '{chosen}'")
    assert page.evaluate("document.querySelector('#word').getAttribute('aria-expanded')") == "false"
    assert options(page) == []
    page.fill("#word", "k")
    until(page, "document.querySelectorAll('[role=option]').length")
    page.keyboard.press("Escape")
    assert options(page) == []
    assert page.evaluate("document.querySelector('#word').value") == "k"


def test_words_of_other_forms(page):
    page.fill("#word", "kings")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#neighbours h2')?.innerText === 'kings'")
    assert "composed" in page.inner_text("#neighbours .title")
    page.fill("#word", "<img")
    until(page, "document.querySelectorAll('[role=option]').length")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#neighbours h2')?.innerText.startsWith('<img')")
    assert page.evaluate("document.querySelectorAll('main img').length") == 0


def test_tabs_and_an_analogy_by_keys(page):
    page.focus("#tab-neighbours")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-analogy"
    assert page.evaluate("document.querySelector('#panel-neighbours').hidden")
    page.keyboard.press("Tab")
    for word in ("king", "queen"):
        page.keyboard.type(word)
        page.keyboard.press("Tab")
    page.keyboard.type("dog")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#analogy table')")
    assert title(page, "analogy").startswith("king : queen = dog : ")
    announced(page, "The best answer is")


def test_two_words_compared_with_evidence(page):
    page.click("#tab-compare")
    page.fill("#compare-a", "king")
    page.keyboard.press("Enter")
    page.fill("#compare-b", "queen")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#compare .concordance')")
    assert title(page, "compare") == "king and queen"
    text = page.inner_text("#compare")
    assert all(
        fact in text for fact in ("Cosine", "95 % interval", "Rank of queen near king", "Shared neighbours", "PMI")
    )


def test_the_map_with_keys_mouse_and_table(page):
    ready(page)
    zoom = "Number(document.querySelector('#map').dataset.zoom)"
    page.focus("#map")
    for key in ("+", "+", "ArrowLeft"):
        page.keyboard.press(key)
    until(page, f"{zoom} > 1.9")
    announced(page, "In the centre:")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#neighbours h2')?.innerText")
    page.focus("#map")
    page.keyboard.press("0")
    until(page, f"{zoom} === 1")
    page.hover("#map")
    page.mouse.wheel(0, -300)
    until(page, f"{zoom} > 1.2")
    page.click("#zoom-reset")
    until(page, f"{zoom} === 1")
    page.click("#table-details summary")
    until(page, "document.querySelectorAll('#map-table tbody tr').length > 5")
    page.click("#map-table .word")
    until(
        page,
        "document.querySelector('#neighbours h2').innerText === document.querySelector('#map-table .word').innerText",
    )


def test_points_of_the_map_are_drawn_and_lead_to_their_word(page, server):
    ready(page)
    state = server.answer("map")
    box = page.locator("#map").bounding_box()
    side = min(box["width"], box["height"]) - 2 * 28
    row = state["words"].index("king")
    x, y = (state["points"][2 * row + i] / state["scale"] for i in (0, 1))
    position = {"x": box["width"] / 2 + (x - 0.5) * side, "y": box["height"] / 2 + (y - 0.5) * side}
    page.click("#map", position=position)
    until(page, "document.querySelector('#neighbours h2')?.innerText === 'king'")
    colours = (
        "new Set(new Uint32Array(map.getContext('2d').getImageData(0, 0, map.width, map.height).data.buffer)).size"
    )
    until(page, f"{colours} > 20")


def test_one_group_of_the_map(page):
    ready(page)
    page.click("#legend button")
    assert page.evaluate("document.querySelector('#legend button').getAttribute('aria-pressed')") == "true"
    announced(page, "Only the group")
    page.click("#legend button")
    announced(page, "All groups")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_accessibility(page, dark, width):
    show(page, width, dark=dark)
    ready(page)
    page.fill("#word", "king")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#lines .concordance')")
    page.click("#table-details summary")
    until(page, "document.querySelector('#map-table table')")
    assert violations(page) == []
    page.fill("#word", "q")
    until(page, "document.querySelectorAll('[role=option]').length")
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.keyboard.press("Escape")
    for tab, button in (("analogy", "abc"), ("compare", "ab")):
        page.click(f"#tab-{tab}")
        for name, word in zip(button, ("king", "queen", "dog"), strict=False):
            page.fill(f"#{tab}-{name}", word)
        page.keyboard.press("Enter")
        until(page, f"document.querySelector('#{tab} table')")
        assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_focus_is_visible_and_reaches_everything(page):
    ready(page)
    page.evaluate("document.activeElement.blur()")
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.evaluate("document.activeElement === document.body")
    assert seen >= {"word", "tab-neighbours", "zoom-in", "zoom-out", "zoom-reset", "map", "SUMMARY"}


def test_the_page_says_what_is_wrong(tab, server):
    """Without the token, and after the end of the command."""
    tab.goto("about:blank")
    tab.evaluate("1")
    tab.goto(f"http://localhost:{server.port}/")  # another origin, without the token of the session
    until(tab, "document.querySelector('#problem')?.textContent.includes('token')")
    other = Server(Path(server.process.args[4]), "--projection", "pca")
    tab.goto(other.address)
    until(tab, "document.querySelector('#map')?.dataset.state === 'ready'")
    other.end()
    tab.fill("#word", "kin")
    until(tab, "document.querySelector('#problem')?.textContent.includes('has ended')")


def test_texts_are_searched_and_shown_as_text(page):
    page.click("#tab-search")
    page.fill("#query", "King")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#search mark')?.innerText === 'king'")
    assert HOSTILE in page.inner_text("#search table")
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
    announced(page, "text")

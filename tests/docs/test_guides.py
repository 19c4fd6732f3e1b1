"""Every code block of the documentation runs, on small data, and prints what the page shows.

The blocks of a page run in order, in one temporary folder. Commands run through the command line in this process;
Python blocks share their names. A block with a title is a file. What a page shows below a block, in a block of text,
is compared with what it printed; the pages about the bundled corpus run on the whole of it with `-m slow`. Without
gensim, a command that writes its files must be refused, and Python blocks that import it do not run. The libraries of
extras cannot be imported, but those of extras that the page installs: `pip install '.[plot]'`. A mark in the
line before a block makes an exception: `<!-- not run: reason -->`, or `<!-- slow -->` for blocks that run with
`-m slow` only. The test command of the README runs all tests.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from importlib.machinery import PathFinder
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pyarrow
import pytest
from commands import expect, refused
from supervised_models import supervised_model

from embeddings import registry

ROOT = Path(__file__).parents[2]
HAS_GENSIM = find_spec("gensim") is not None
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<mark>not run: [^\n]+|slow|test command) -->\n)?"
    r"^(?P<indent>[ ]*)```(?P<language>\w+)(?P<title>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$"
    r"(?:\s*^(?P=indent)```text\n(?P<output>.*?)^(?P=indent)```$)?",
    re.MULTILINE | re.DOTALL,
)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
INSTALLED = re.compile(r"pip install [^`\n]*\[([\w,-]+)\]")  # the extras that a page installs
NOT_FOR_USERS = ("test", "docs", "optional-tests", "ecosystem", "s3-server")
MODULES = {"PyStemmer": "Stemmer", "fasttext-numpy2": "fasttext", "unidic-lite": "unidic_lite"}  # by distribution
OPTIONAL = re.compile(r"\b(PyTorch|ray|Ray|Dask|Spark|spaCy|datasets|store)\b")  # other tests run code with them
TOPICS = (
    "france",
    "football",
    "music",
    "song",
    "king",
    "queen",
    "man",
    "woman",
    "river",
    "lake",
    "city",
    "war",
    "film",
    "school",
    "church",
)


class Block(NamedTuple):
    """A fenced block of a page: its language, the file it is, if any, its mark, its code, and its output."""

    language: str
    title: str | None
    mark: str
    code: str
    line: int
    output: str


def blocks(page):
    """The blocks of a page that are code."""
    text = (ROOT / page).read_text(encoding="utf-8")
    result = []
    for match in FENCE.finditer(text):
        if match["language"] in ("python", "sh", "toml", "csv"):
            title = re.search(r'title="([^"]+)"', match["title"])
            line = text.count("\n", 0, match.start("code")) + 1
            name = title[1] if title else None
            output = dedent(match["output"] or "")
            result.append(Block(match["language"], name, match["mark"] or "", dedent(match["code"]), line, output))
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with the files that the guides name. A file called `sample` takes precedence over the built-in one."""
    folder = tmp_path_factory.mktemp("guides")
    with pyarrow.input_stream(
        str(ROOT / "corpora" / "sample" / "wikipedia-sample.txt.zst"), compression="zstd"
    ) as file:
        lines = file.read().decode().splitlines()
    chosen = [line for line in lines if any(f" {topic} " in line for topic in TOPICS)][:1500]
    for name in ("sample", "text.txt"):
        (folder / name).write_text("\n".join(chosen) + "\n", encoding="utf-8")
    (folder / "more").mkdir()
    (folder / "more" / "a.txt").write_text("\n".join(lines[:300]), encoding="utf-8")
    (folder / "texts").mkdir()
    (folder / "texts" / "part1.txt.gz").write_bytes(gzip.compress("\n".join(lines[300:600]).encode()))
    (folder / "pairs.tsv").write_text(
        "".join(f"{a}\t{b}\t{len(a) - len(b)}\n" for a in TOPICS for b in TOPICS if a < b)
    )
    rows = [
        f"review{i},{'good' if i % 2 else 'bad'},a {'fine' if i % 2 else 'dull'} film number {i % 7}" for i in range(80)
    ]
    for name, part in (("reviews", rows), ("train", rows[:60]), ("test", rows[60:]), ("new", rows[:5])):
        (folder / f"{name}.csv").write_text("\n".join(["id,label,text", *part]) + "\n", encoding="utf-8")
        lines_with_labels = ("__label__{1} {2}\n".format(*row.split(",")) for row in part)
        (folder / f"{name}.txt").write_text("".join(lines_with_labels), encoding="utf-8")
    write_text_sets(folder, [line for line in chosen if len(line) > 40][:40])
    (folder / "classifier.ftz").write_bytes(supervised_model(quantised=True, pruned=11).data)
    chinese = "我喜欢音乐。北京的音乐大学很好。北京大学也很好。他在北京学习音乐和物理。物理大学在南京。"
    (folder / "zh.txt").write_text("\n".join([chinese] * 60) + "\n", encoding="utf-8")
    return folder


def write_text_sets(folder, texts):
    """Rated pairs of texts, and queries, documents and judgements."""
    rated = [f"{a}\t{b}\t{number % 6}\n" for number, (a, b) in enumerate(pairwise(texts))]
    (folder / "rated.txt").write_text("".join(rated), encoding="utf-8")
    rows = [json.dumps({"_id": str(number), "text": text}) + "\n" for number, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(rows), encoding="utf-8")
    (folder / "queries.jsonl").write_text("".join(rows[:10]), encoding="utf-8")
    judgements = "".join(f"{number}\t{number + 1}\t1\n" for number in range(10))
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judgements}", encoding="utf-8")


@pytest.fixture(scope="module")
def model(data):
    """A saved model of the text, for pages that begin with one."""
    expect("train", "skipgram", data / "text.txt", "--epochs", 3, "-o", data / "model")
    expect("train", "cbow", data / "text.txt", "--epochs", 1, "-o", data / "model.bin")
    return data / "model"


@pytest.fixture
def folder(data, model, tmp_path, monkeypatch):
    """The folder a page runs in; modules that blocks write to files are forgotten afterwards."""
    shutil.copytree(data, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("model", "model.bin"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def modules_of(extras):
    """The modules that extras install; those that the package requires anyway, such as setuptools, are not counted."""
    distributions = {re.match(r"[\w.-]+", one)[0] for extra in extras for one in EXTRAS[extra]}
    return {MODULES.get(one, one.replace("-", "_")) for one in distributions} - {"setuptools", "cryptography"}


@pytest.fixture
def only_installed(monkeypatch):
    """A function that hides the libraries of all extras but those that a page installs."""

    def hide(page):
        names = {
            name for match in INSTALLED.findall((ROOT / page).read_text(encoding="utf-8")) for name in match.split(",")
        }
        # numpy is there without extras; one of them limits its version
        hidden = modules_of(set(EXTRAS) - set(NOT_FOR_USERS)) - modules_of(names) - {"numpy"}
        find = PathFinder.find_spec

        def find_spec(name, path=None, target=None):
            return None if name.partition(".")[0] in hidden else find(name, path, target)

        monkeypatch.setattr(PathFinder, "find_spec", find_spec)
        for name in [name for name in sys.modules if name.partition(".")[0] in hidden]:
            monkeypatch.delitem(sys.modules, name)

    return hide


def run_shell(code):
    """What lines of a shell print: the commands of this package run in this process, all else by bash."""
    printed = []
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["embeddings"] and "|" not in words:
            if HAS_GENSIM or not any(word.endswith(".kv") for word in words):
                printed.append(expect(*words[1:]).output)
            else:
                assert "requires gensim" in refused(*words[1:], code=1)
        elif words:
            command = ["bash", "-c", f"set -e -o pipefail; {line}"]
            printed.append(subprocess.run(command, check=True, timeout=300, text=True, stdout=subprocess.PIPE).stdout)
    return "\n".join(printed)


NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")
TABLE = re.compile(r"\w+(\s{2,}[\w-]+){2,}")  # the first line of a table on a terminal


def check_output(block, printed, *, same_text):
    """What a page shows is what was printed: on its own text with the same words and near numbers.

    Another processor rounds otherwise, so that neighbours trade places, and times differ everywhere. On other text than
    that of the page, the columns of tables are those shown.
    """
    shown, lines = ([line.split() for line in text.splitlines() if line.strip()] for text in (block.output, printed))
    if not same_text:
        heads = [
            line.split() for line in block.output.splitlines() if TABLE.fullmatch(line) and not NUMBER.search(line)
        ]
        assert all(head in lines for head in heads), (heads, printed)
        return
    if not shown:  # a page need not show everything
        return
    shown, lines = ([line for line in part if line[0] not in ("training", "trained")] for part in (shown, lines))
    assert [len(line) for line in shown] == [len(line) for line in lines], printed
    pairs = [pair for one, other in zip(shown, lines, strict=True) for pair in zip(one, other, strict=True)]
    numbers = [
        (float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs if is_number(a) and is_number(b)
    ]
    assert all(abs(a - b) <= 0.1 + 0.02 * abs(a) for a, b in numbers), printed
    words = [(a, b) for a, b in pairs if not (is_number(a) and is_number(b))]
    assert sum(a == b for a, b in words) >= 0.75 * len(words), printed


def is_number(text):
    """Whether it is a number as tables print it."""
    return NUMBER.fullmatch(text) is not None


def run_page(page, folder, model, *, slow, same_text=False):
    """Run the blocks of a page in order, and compare what they print with what the page shows."""
    names = {"__name__": "__main__"}
    found = blocks(page)
    if not any(re.search(r"-o vectors(\s|$)", block.code) for block in found):
        shutil.copytree(model, folder / "vectors")
        shutil.copy(model.with_suffix(".bin"), folder / "other.bin")
    for block in found:
        if block.mark not in ("", "slow") or (block.mark == "slow" and not slow):
            continue
        if block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "sh":
            check_output(block, run_shell(block.code), same_text=same_text)
        elif block.language == "python" and (HAS_GENSIM or "from gensim" not in block.code):
            source = "\n" * (block.line - 1) + block.code  # so that a traceback has the line of the page
            with redirect_stdout(StringIO()) as printed:
                exec(compile(source, str(ROOT / page), "exec"), names)
            check_output(block, printed.getvalue(), same_text=same_text)


LONG = {  # the code of these pages takes longer than that of all others
    f"docs/{page}.md"
    for page in (
        "analysis/evaluation",
        "corpora/corpora",
        "corpora/vocabulary",
        "labels/classification",
        "labels/tune-and-export",
        "phrases/phrases",
        "reference/evaluation-protocol",
        "reference/files",
        "reference/paragraph-vectors",
        "reference/training-settings",
        "runs/long-runs",
        "runs/tuning",
        "texts/vectors",
        "words/objectives",
        "words/pretrained",
        "words/search",
        "words/training",
    )
}
ON_SAMPLE = (
    "README.md",
    "docs/index.md",
    "docs/first-steps.md",
    "docs/tutorial.md",
)  # whose output is that of one thread on all of it
WITH_CODE = [
    pytest.param(page, marks=[pytest.mark.slow] if page in LONG else [])
    for page in PAGES
    if page != "docs/first-steps.md" and any(not block.mark for block in blocks(page))
]
WITH_SLOW_CODE = [page for page in PAGES if any(block.mark == "slow" for block in blocks(page))]


@pytest.mark.parametrize("page", WITH_CODE)
def test_code_runs(page, folder, model, only_installed):
    only_installed(page)
    run_page(page, folder, model, slow=False)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_GENSIM, reason="SimLex-999 ships with gensim")
@pytest.mark.parametrize("page", ON_SAMPLE)
def test_pages_on_the_sample_print_what_they_show(page, folder, model, only_installed):
    only_installed(page)
    (folder / "sample").unlink()  # the bundled corpus takes its place
    (folder / "text.txt").unlink()
    run_page(page, folder, model, slow=False, same_text=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SLOW_CODE)
def test_slow_code_runs(page, folder, model, only_installed):
    only_installed(page)
    (folder / "sample").unlink()  # the bundled corpus takes its place
    run_page(page, folder, model, slow=True)


def test_exceptions_are_rare_and_have_a_reason():
    every = [block for page in PAGES for block in blocks(page) if block.language in ("python", "sh")]
    exceptions = [block for block in every if block.mark.startswith("not run")]
    libraries = [block for block in exceptions if OPTIONAL.search(block.mark)]
    assert len(every) > 80
    assert len(exceptions) - len(libraries) < len(every) / 4


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f" {page.removeprefix('docs/')}\n" in navigation, page


REFERENCE = ("docs/reference/", "docs/evidence/")  # facts to look up, and measurements: as long as they must be
GUIDES = [page for page in PAGES[1:] if not page.startswith(REFERENCE)]


def n_words(page):
    """The words between white space of a page: its code and the tables in it, not what it includes from other files.

    The tables of the pages on migration are a reference too: names in other tools beside names here.
    """
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    return sum(len(line.split()) for line in lines if not (page.startswith("docs/migration/") and line.startswith("|")))


@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_is_short(page):
    assert n_words(page) <= 1200


def test_all_guides_together_are_short():
    assert sum(map(n_words, GUIDES)) <= 26_000


def test_links_lead_to_files():
    generated = ("contributing.md", "changelog.md", "reference/commands/")
    for page in [*PAGES, "CONTRIBUTING.md"]:
        path = ROOT / page
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if link.startswith("http"):
                continue
            target = os.path.normpath(path.parent / link)
            inside = os.path.relpath(target, ROOT / "docs")
            assert os.path.exists(target) or inside.startswith(generated), f"{page}: {link}"


def installed(kind):
    """The names of what this package offers of a kind."""
    return {
        n
        for n, offers in registry.find_all(kind).items()
        if registry.distribution_name(offers[0]) == "embeddings-toolkit"
    }


@pytest.mark.parametrize(
    ("kind", "page"),
    [("trainer", "docs/models.md"), ("format", "docs/words/formats.md"), ("index", "docs/words/search.md")],
)
def test_every_plugin_has_a_row(kind, page):
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) >= installed(kind)

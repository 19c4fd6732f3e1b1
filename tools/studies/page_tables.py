"""Tables within pages, between two comments, and the table of each tool at its best learning rate."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from unicodedata import category, combining

from embeddings.corpora.word_rules import WordRules
from embeddings.eval.benchmark.result_table import Summary, summaries
from embeddings.eval.benchmark.workspace import SETS, read_rows, write_text
from studies.grid import Study, beside, markdown

ROOT = Path(__file__).parents[2]
README, LANGUAGES = ROOT / "README.md", ROOT / "docs" / "guide" / "languages.md"
SAMPLES = Path(__file__).parents[1] / "language_samples.tsv"
RESULTS = ROOT / "eval" / "results"
SHOWN = (("comparison", "skipgram", 0.05), ("comparison", "cbow", 0.075), ("structured", "fasttext", 0.05))


class Readme(Study):
    """Writes the comparison of README.md, and the table of each tool at its best learning rate to OUT.md.

    Both come from runs of `embeddings benchmark`.
    """

    results = "comparison/best"

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the tables."""
        write_text(with_table(README, "comparison", comparison()), README)
        write_text(best(), beside(out, ".md"))


class LanguageExamples(Study):
    """Writes the examples of docs/guide/languages.md, from language_samples.tsv."""

    results = "languages/examples"

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the table."""
        write_text(with_table(LANGUAGES, "examples", examples()), LANGUAGES)


def with_table(page: Path, name: str, table: str) -> str:
    """A page with a table between the comments <!-- name --> and <!-- end of name -->."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    return before + begin + table + end + rest.split(end)[1]


def comparison() -> str:
    """A row for each model and tool, at the default learning rates of this package."""
    runs = ((trainer, rate, one) for folder, trainer, rate in SHOWN for one in runs_of(folder))
    shown = [
        one
        for trainer, rate, one in runs
        if (one.settings["trainer"], one.settings["learning_rate"]) == (trainer, rate)
    ]
    rows = ([f"`{one.settings['trainer']}`", one.tool, seconds(one), *scores(one)] for one in shown)
    return markdown(["model", "tool", "CPU s", *SETS.values()], rows)


def best() -> str:
    """A row for each model and tool, at the learning rate with the highest mean score."""
    found: dict[tuple[str, str], Summary] = {}
    for one in runs_of("comparison"):
        key = one.settings["trainer"], one.tool
        if key not in found or mean_score(one) > mean_score(found[key]):
            found[key] = one
    rows = []
    for one in found.values():
        cells = [f"`{one.settings['trainer']}`", one.tool, f"{one.settings['learning_rate']:g}", seconds(one)]
        rows.append([*cells, *scores(one), f"{mean_score(one):.3f}"])
    return markdown(["model", "tool", "learning rate", "CPU s", *SETS.values(), "mean"], rows)


def runs_of(folder: str) -> list[Summary]:
    """The means of the runs in a folder of results."""
    return summaries(read_rows(RESULTS / folder / "results.csv"))


def seconds(one: Summary) -> str:
    """The CPU seconds of a whole run, and their ratio to ours."""
    ratio = one.ratios["whole_cpu"]
    return f"{one.times['whole_cpu']:.1f}" + ("" if one.tool == "embeddings" else f" ({ratio:.2g}x)")


def scores(one: Summary) -> Iterator[str]:
    """The mean scores over the seeds."""
    return (f"{one.scores[name][0]:.3f}" for name in SETS)


def mean_score(one: Summary) -> float:
    """The mean of all scores."""
    return fmean(one.scores[name][0] or 0.0 for name in SETS)


def examples() -> str:
    """A row for each text, with the words that two tokenizers find."""
    rows = []
    for row in SAMPLES.read_text("utf-8").splitlines():
        language, text, options = row.split("\t")
        settings = dict(option.split("=") for option in options.split(";") if option)
        before = words_of(text, tokenizer="alphanumeric", normalize="none")
        after = words_of(text, tokenizer="words", **settings)
        shown = (f"{name}={value}" for name, value in settings.items())
        rows.append([language, visible(text), code(shown), code(map(visible, before)), code(map(visible, after))])
    return markdown(["language", "text", "settings", "tokens, `alphanumeric`", "tokens, `words`"], rows)


def words_of(text: str, **settings: str) -> list[str]:
    """The words of a text."""
    rules = WordRules(**settings)
    return [rules.normalize_one(token) for token in rules.tokenizer(text)]


def visible(text: str) -> str:
    """A text whose format characters, variation selectors and marks of decomposed letters are code points."""
    is_hidden = [
        category(point) == "Cf" or point == "\ufe0f" or (combining(point) in (202, 220, 230) and point < "\u0370")
        for point in text
    ]
    return "".join(f"[{ord(point):04X}]" if hidden else point for point, hidden in zip(text, is_hidden, strict=True))


def code(words: Iterable[str]) -> str:
    """Words as code."""
    return " ".join(f"`{word}`" for word in words)

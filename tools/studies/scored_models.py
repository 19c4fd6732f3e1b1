"""Models of different settings, and of words found by different rules, scored on the same test sets."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.eval.evaluation import Suite, compare_scores
from embeddings.eval.statistics.results import Key
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.indexes.index import parse_spec
from embeddings.support.imports import import_library
from studies.grid import Grid, Rows, collect, markdown, mean_and_spread, pivot, scores

MIN_COUNT = 5


class Settings(Grid):
    """Trains one model for each choice of settings, corpus and seed on one thread, and scores it.

    --model TRAINER[:KEY=VALUE,...]...; --common has settings of all models. --corpus NAME=FILE... With --halves each
    half of a set is scored, as NAME-dev and NAME-test, and the table has the means over the sets of each half. Labelled
    documents, --documents TRAIN,TEST..., are tables with the columns id, text and label, which the corpus has too; with
    --category its documents also have the tags in these columns. Models with init_mode=MODE, and those with
    freeze=true, start from the vectors of --init.
    """

    results = "settings/choices"
    keys = ("corpus", "model", "seed")
    values = ("set", "value", "covered", "total")
    defaults: ClassVar = {
        "corpus": {}, "model": [], "seed": [1], "common": "epochs=3", "similarity": [], "analogy": [], "documents": [],
        "category": [], "halves": False, "init": None,
    }  # fmt: skip

    def measure(self, corpus: str, model: str, seed: int) -> Iterable[Sequence[Any]]:
        """The score of each set, and how many of its items have vectors."""
        options = self.options
        trainer, settings = parse_spec(f"{model}{',' if ':' in model else ':'}{options.common}", group="trainer")
        mode, freeze = settings.pop("init_mode", None), settings.pop("freeze", "") == "true"
        init = em.InitFrom(options.init, mode=mode or "initial", freeze=freeze) if mode or freeze else None
        columns = {"text_column": "text", "tag_column": ["id", *options.category]} if options.documents else {}
        text = em.Corpus(options.corpus[corpus], **columns)
        trained = em.train(trainer, text, threads=1, seed=seed, **({"init": init} if init else {}), **settings)
        sets = {kind: getattr(options, kind) for kind in ("similarity", "analogy", "documents")}
        sets |= {"restrict": None} if options.analogy else {}
        if "documents" in trained.tables:
            sets = {"documents": options.documents, "name_column": "id"}
        for half in ("dev", "test") if options.halves else ("all",):
            for one in scores(trained if options.documents else trained.vectors, half=half, **sets):
                name = f"{one.set.partition(' (')[0]}-{half}" if options.halves else one.set
                yield name, f"{one.value or 0:.4f}", one.covered, one.total

    def table(self, rows: Rows) -> str:
        """Means over seeds in percent; if all sets are halves, means over the sets of each half."""
        is_half = {half_of(row["set"]) for row in rows} <= {"dev", "test"}
        for row in rows:
            row["measure"] = f"{row['corpus']}: {half_of(row['set']) if is_half else row['set']}"
            row["value"] = str(100 * float(row["value"]))
        return half_table(rows) if is_half else set_table(rows)


def set_table(rows: Rows) -> str:
    """The mean of each score; best models first. Those with all scores have their mean, ± half the range of seeds."""
    columns: dict[str, Any] = dict.fromkeys((row["measure"] for row in rows), (fmean, ".1f"))
    means = {model: fmean(map(fmean, one.values())) for (model,), one in collect(rows, "model").items()}
    rows.sort(key=lambda row: (row["model"].partition(":")[0], -means[row["model"]]))
    for (model, _), one in collect(rows, "model", "seed").items():
        if one.keys() == columns.keys():
            rows.append({"model": model, "measure": "mean", "value": str(fmean(map(fmean, one.values())))})
    return pivot(rows, ("model",), columns | {"mean": (mean_and_spread, "")})


def half_table(rows: Rows) -> str:
    """The means over the sets of each half, by model and corpus: by trainer, then by its settings from the last on."""

    def order(model: str) -> tuple[str, list[float]]:
        trainer, _, settings = model.partition(":")
        return trainer, [float(part.partition("=")[2]) for part in reversed(settings.split(","))]

    corpora = dict.fromkeys(row["corpus"] for row in rows)
    lines = []
    for (model,), one in sorted(collect(rows, "model").items(), key=lambda item: order(item[0][0])):
        names = ([f"{corpus}: {half}" for half in ("dev", "test")] for corpus in corpora)
        lines.append([model, *(" / ".join(f"{fmean(one[name]):.1f}" for name in two if name in one) for two in names)])
    return markdown(["model", *corpora], lines, names=1)


def half_of(name: str) -> str:
    """The end of the name of a set: its half, if it is one."""
    return name.removesuffix(".csv").rpartition("-")[2]


class Tokenization(Grid):
    """Compares skip-gram vectors of a text whose words were found by different rules.

    A --rule is a list of settings of a corpus, such as "tokenizer=alphanumeric normalize=none".
    """

    results = "languages/results"
    keys = ("language", "text", "rule")
    values = ("tokens", "types", "vectors", "set", "value", "low", "high", "covered", "total")
    defaults: ClassVar = {
        "language": str, "text": str, "rule": [], "similarity": [], "dim": 100, "epochs": 5, "seed": 1, "threads": 1,
    }  # fmt: skip

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """A cell for each rule."""
        text = Path(self.options.text)
        for rule in self.options.rule:
            yield self.options.language, f"{text.name}, {text.stat().st_size / 1e6:.0f} MB", rule

    def measure(self, language: str, text: str, rule: str) -> Iterator[Sequence[Any]]:
        """Count the words of a rule, and train on them if there are test sets: a row for each of these, or one."""
        options = self.options
        corpus = em.Corpus(options.text, **dict(setting.split("=") for setting in rule.split()))
        encoded = corpus.encode()
        counts = [len(encoded.ids), len(encoded.vocabulary), int((encoded.vocabulary.counts >= MIN_COUNT).sum())]
        if not options.similarity:
            yield [*counts, *[""] * 6]
            return
        training = {name: getattr(options, name) for name in ("dim", "epochs", "seed", "threads")}
        for one in scores(em.train("skipgram", corpus, min_count=MIN_COUNT, **training), similarity=options.similarity):
            yield [*counts, Path(one.set).stem, *map(str, (one.value, one.low, one.high, one.covered, one.total))]

    def table(self, rows: Rows) -> str:
        """A line for each text and rule."""
        lines: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            cells = [f"{row['language']}: {row['text']}", f"`{row['rule']}`"]
            cells += [f"{int(row[name]):,}" for name in ("tokens", "types", "vectors")]
            score = f"{row['set']} {format_score(row)}" if row["set"] else "-"
            lines.setdefault(tuple(cells), []).append(score)
        heads = ["text", "rule", "tokens", "types", "vectors", "similarity"]
        return markdown(heads, ([*cells, "; ".join(scores)] for cells, scores in lines.items()))


NGRAMS = {"per_length": "10000,100000"}  # 10,000 of one character
COMPOSITIONAL = {**NGRAMS, "compositional": True, "learning_rate": 0.025}
SKIPGRAM = {"subsample": 0.01, "epochs": 20}  # the best of 0.0001 to 0.01 and of 5 to 40 for words of segmenters
CHARACTERS, SEGMENTED = "skip-gram of characters, means", "skip-gram of words"
MODELS: dict[str, tuple[str, str | None, dict[str, Any]]] = {  # trainer, tokenizer, own settings; None: the segmenter
    "sembei": ("sembei", "codepoints", NGRAMS),
    "sembei, compositional": ("sembei", "codepoints", COMPOSITIONAL),
    CHARACTERS: ("skipgram", "characters", SKIPGRAM),
    SEGMENTED: ("skipgram", None, SKIPGRAM),
}
MARKS, SCRIPTS, WRONG = "no spaces, no punctuation", "mixed scripts", "10 % wrong characters"
NOISES = {"as it is": (), MARKS: (MARKS,), SCRIPTS: (SCRIPTS,), WRONG: (WRONG,), "all three": (MARKS, SCRIPTS, WRONG)}
MEASURES = ("spearman", "accuracy")
SECONDS = "CPU s"


class Unsegmented(Grid):
    """Compares n-grams, characters and words of a segmenter as units of text without spaces, on noisy copies of it too.

    --categories and --similarity are scored on the words that have vectors in all models.
    """

    results = "unspaced/results"
    keys = ("language", "noise")
    values = ("model", "measure", "value", "difference", "low", "high", "p", "covered", "common", "total")
    packages = ("jieba", "fugashi", "unidic-lite", "opencc")
    requires = ("opencc",)
    defaults: ClassVar = {
        "language": str, "segmenter": "jieba", "text": str, "similarity": [], "categories": [], "noise": [*NOISES],
        "dim": 100, "epochs": 5, "negatives": 5, "seeds": [1, 2, 3], "threads": 1, "subsample": 1e-4,
    }  # fmt: skip
    about = (
        "Dim {dim}, negatives {negatives}, seeds {seeds}, threads {threads}; n-grams: epochs {epochs}, subsample "
        "{subsample}; skip-gram: epochs 20, subsample 0.01."
    )

    def prepare(self) -> None:
        """Read the text and the test sets."""
        self.text = Path(self.options.text).read_text(encoding="utf-8")
        self.suite = Suite.read(similarity=self.options.similarity, categories=self.options.categories)
        sets = self.suite.sets
        self.items = {one.name: one.pairs for one in sets["similarity"]}
        self.items |= {one.name: [(word,) for word in one.words] for one in sets["categories"]}

    def measure(self, language: str, noise: str) -> Iterator[Sequence[Any]]:
        """Train every model on the noisy text, and score all of them on the words that have vectors in each."""
        lines = with_noise(self.text, NOISES[noise]).splitlines(keepends=True)
        runs = {}
        for model in MODELS:
            start = process_time()
            runs[model] = [self.train(model, lines, seed) for seed in self.options.seeds]
            seconds = (process_time() - start) / len(self.options.seeds)
            yield model, SECONDS, round(seconds, 1), *[""] * 7
        known = {model: set(vectors[0].words) for model, vectors in runs.items()}
        common = {
            name: [all(words.issuperset(map(str.lower, item)) for words in known.values()) for item in items]
            for name, items in self.items.items()
        }
        suite = replace(self.suite, sets={**self.suite.sets, **self.restricted(common)})
        scores = [
            [one for one in suite.iter_scores(vectors, model) if is_score(one.key)] for model, vectors in runs.items()
        ]
        tests = {(one.first, one.set): one for one in compare_scores(scores) if one.second == SEGMENTED}
        for one in (each.result() for scored in scores for each in scored):
            test = tests.get((one.vectors, one.set))
            cells = ["", "", "", ""] if test is None else [test.difference, test.low, test.high, test.p_holm]
            items = self.items[one.set]
            covered = sum(known[one.vectors].issuperset(map(str.lower, item)) for item in items)
            yield one.vectors, one.set, one.value, *cells, covered, sum(common[one.set]), len(items)

    def train(self, model: str, lines: Sequence[str], seed: int) -> em.Vectors:
        """The vectors of the words of the test sets that a model has."""
        names = ("dim", "epochs", "negatives", "threads", "subsample")
        settings = {name: getattr(self.options, name) for name in names}
        trainer, tokenizer, own = MODELS[model]
        corpus = em.Corpus(list(lines), tokenizer=tokenizer or self.options.segmenter)
        vectors = em.train(trainer, corpus, seed=seed, **{**settings, **own}).vectors
        words = dict.fromkeys(word.lower() for items in self.items.values() for item in items for word in item)
        if model == CHARACTERS:
            rows = {word: vectors[list(word)].mean(axis=0) for word in words if all(part in vectors for part in word)}
        elif vectors.compose is not None:
            rows = {word: row for word, row in zip(words, vectors.compose_words([*words]), strict=True) if row.any()}
        else:
            rows = {word: vectors[word] for word in words if word in vectors}
        return em.Vectors([*rows], np.array([*rows.values()], np.float32).reshape(-1, vectors.dim))

    def restricted(self, selected: dict[str, list[bool]]) -> dict[str, list[Any]]:
        """The test sets with the selected items only."""
        pairs = [
            replace(one, **{name: [*compress(getattr(one, name), selected[one.name])] for name in ("pairs", "ratings")})
            for one in self.suite.sets["similarity"]
        ]
        categories = [
            replace(
                one, **{name: [*compress(getattr(one, name), selected[one.name])] for name in ("words", "categories")}
            )
            for one in self.suite.sets["categories"]
        ]
        return {"similarity": pairs, "categories": categories}

    def table(self, rows: Rows) -> str:
        """A line for each text and model, with a cell of coverage and score for each set."""
        texts = dict.fromkeys((row["language"], row["noise"]) for row in rows)
        tables = []
        for language in dict.fromkeys(language for language, _ in texts):
            own = [row for row in rows if row["language"] == language]
            sets = list(dict.fromkeys(row["measure"] for row in own if row["measure"] != SECONDS))
            cells = {(row["noise"], row["model"], row["measure"]): row for row in own}
            lines = []
            for noise, model in dict.fromkeys((row["noise"], row["model"]) for row in own):
                line = [noise, model, cells[noise, model, SECONDS]["value"]]
                for name in sets:
                    line += comparison_cells(cells[noise, model, name])
                lines.append(line)
            heads = [head for name in sets for head in (f"{name}, covered", f"{name}, score of common items")]
            tables.append(markdown([f"{language} text", "model", SECONDS, *heads], lines, 2))
        return "\n".join(tables)


def comparison_cells(row: dict[str, str]) -> list[str]:
    """The coverage, and the score with its difference to the segmenter, bold if the corrected p is below .05."""
    covered = f"{int(row['covered']):,} of {int(row['total']):,}"
    score = f"{float(row['value']):.3f}" if row["value"] else "-"
    if not row["difference"]:
        return [covered, f"{score} ({int(row['common']):,} items)"]
    mark = "**" * (row["p"] != "" and float(row["p"]) < 0.05)
    interval = f" [{float(row['low']):+.3f}, {float(row['high']):+.3f}]" if row["low"] else ""
    return [covered, f"{score}, {mark}{float(row['difference']):+.3f}{mark}{interval}"]


def is_score(one: Key) -> bool:
    """Whether scores are of a whole set, and not of a baseline."""
    return one.section is None and one.measure in MEASURES and one.method != MAJORITY


def with_noise(text: str, kinds: Collection[str], seed: int = 1) -> str:
    """A text without spaces and punctuation, with characters of the other script, with wrong ones, or all of these.

    Half of the characters that have a counterpart, traditional or simplified, hiragana or katakana, become that; a
    tenth is replaced by characters from elsewhere in the text. Ends of lines stay.
    """
    rng = np.random.default_rng(seed)
    if MARKS in kinds:
        text = re.sub(r"[^\w\n]|_", "", text)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32).copy()
    if SCRIPTS in kinds:
        points = np.where(rng.random(len(points)) < 0.5, counterparts()[points], points)
    if WRONG in kinds:
        places = np.flatnonzero(points != ord("\n"))
        chosen = places[rng.random(len(places)) < 0.1]
        points[chosen] = points[rng.choice(places, len(chosen))]
    return points.tobytes().decode("utf-32-le")


def counterparts() -> np.ndarray:
    """The character of the other script for each code point; itself if there is none."""
    table, OpenCC = np.arange(0x110000, dtype=np.uint32), import_library("opencc").OpenCC
    for converter in map(OpenCC, ("s2t", "t2s")):
        for point in range(0x4E00, 0xA000):
            other = converter.convert(chr(point))
            table[point] = ord(other) if len(other) == 1 and other != chr(point) else table[point]
    hiragana = np.arange(0x3041, 0x3097)
    table[hiragana], table[hiragana + 0x60] = hiragana + 0x60, hiragana
    return table


def format_score(row: dict[str, str]) -> str:
    """A value with its interval and coverage."""
    value = "-" if row["value"] == "None" else f"{float(row['value']):.3f}"
    interval = f" [{float(row['low']):.3f}, {float(row['high']):.3f}]" if row["low"] not in ("", "None") else ""
    return f"{value}{interval}, {int(row['covered']):,} of {int(row['total']):,}"

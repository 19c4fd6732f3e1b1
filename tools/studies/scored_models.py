"""Models of different settings, and of words found by different rules, scored on the same test sets."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.eval.evaluation import Suite
from embeddings.indexes.index import parse_spec
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


SECONDS, VECTORS = "CPU s", "vectors"
NGRAMS = {"per_length": "10000,100000"}  # 10,000 of one character
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {  # the trainer, the tokenizer and own settings of each
    "sembei": ("sembei", "codepoints", NGRAMS),
    "sembei, compositional": ("sembei", "codepoints", {**NGRAMS, "compositional": True, "learning_rate": 0.025}),
    "skip-gram of characters, means": ("skipgram", "characters", {}),
    "skip-gram of words by jieba": ("skipgram", "jieba", {}),
}
MEASURES = {"spearman": "", "micro-f1": " micro-F1", "macro-f1": " macro-F1"}


class Unsegmented(Grid):
    """Compares models of text without spaces: n-grams of raw text, characters, and words that jieba finds."""

    results = "unspaced/results"
    keys = ("model",)
    values = ("measure", "value", "low", "high", "covered", "total")
    packages = requires = ("jieba",)
    defaults: ClassVar = {
        "text": str, "similarity": [], "categories": [], "dim": 100, "epochs": 5, "negatives": 5, "seed": 1,
        "threads": 1, "subsample": 1e-4, "model": [*MODELS],
    }  # fmt: skip
    about = (
        "{name}, {characters:,} characters; dim {dim}, epochs {epochs}, negatives {negatives}, seed {seed}, "
        "threads {threads}, subsample {subsample}."
    )
    notes = """
- CPU seconds are of all threads: reading and counting, segmentation if any, training.
- Similarity is Spearman's correlation, F1 that of a linear classifier of names, with 95 % intervals, then the number of
  pairs or names that have vectors, which differs between rows. Compositional n-grams have vectors of any string, means
  of characters those of any string of known characters.
"""

    def prepare(self) -> None:
        """Read the test sets."""
        text = Path(self.options.text)
        self.facts = {"name": text.name, "characters": len(text.read_text(encoding="utf-8"))}
        self.suite = Suite.read(similarity=self.options.similarity, categories=self.options.categories)

    def measure(self, model: str) -> Iterator[Sequence[Any]]:
        """Train on the text, which is encoded anew, so that its time is measured, and score the vectors."""
        names = ("dim", "epochs", "negatives", "seed", "threads", "subsample")
        settings = {name: getattr(self.options, name) for name in names}
        start = process_time()
        lines = Path(self.options.text).read_text(encoding="utf-8").splitlines(keepends=True)
        trainer, tokenizer, own = MODELS[model]
        vectors = em.train(trainer, em.Corpus(lines, tokenizer=tokenizer), **settings, **own).vectors
        seconds = process_time() - start
        if model.endswith("means"):
            vectors = character_means(vectors, self.suite)
        yield SECONDS, round(seconds, 1), "", "", "", ""
        yield VECTORS, len(vectors), "", "", "", ""
        compose = replace(self.suite.settings, compose=vectors.compose is not None)  # for every word, if they can
        for one in (each.result() for each in replace(self.suite, settings=compose).score(vectors, model)):
            if one.measure in MEASURES and one.section is None and not one.is_detail:
                yield one.set + MEASURES[one.measure], one.value, one.low, one.high, one.covered, one.total

    def table(self, rows: Rows) -> str:
        """A row for each model."""
        names = list(dict.fromkeys(row["measure"] for row in rows if row["measure"] not in (SECONDS, VECTORS)))
        lines = []
        for model in dict.fromkeys(row["model"] for row in rows):
            cells = {row["measure"]: row for row in rows if row["model"] == model}
            seconds, vectors = (float(cells[name]["value"]) for name in (SECONDS, VECTORS))
            scored = (format_score(cells[name]) if cells[name]["value"] else "-" for name in names)
            lines.append([model, f"{seconds:.1f}", f"{vectors:,.0f}", *scored])
        return markdown(["model", SECONDS, VECTORS, *names], lines)


def character_means(vectors: em.Vectors, suite: Suite) -> em.Vectors:
    """Vectors of all words of the test sets whose characters are known, as the means of those of their characters."""
    words = [word for pairs in suite.sets["similarity"] for pair in pairs.pairs for word in pair]
    words += [word for test in suite.sets["categories"] for word in test.words]
    known = [word for word in dict.fromkeys(map(str.lower, words)) if word and all(part in vectors for part in word)]
    means = [vectors[list(word)].mean(axis=0) for word in known]
    return em.Vectors(known, np.array(means, np.float32).reshape(-1, vectors.dim))


def format_score(row: dict[str, str]) -> str:
    """A value with its interval and coverage."""
    value = "-" if row["value"] == "None" else f"{float(row['value']):.3f}"
    interval = f" [{float(row['low']):.3f}, {float(row['high']):.3f}]" if row["low"] not in ("", "None") else ""
    return f"{value}{interval}, {int(row['covered']):,} of {int(row['total']):,}"

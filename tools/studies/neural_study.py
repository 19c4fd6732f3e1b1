"""context2vec and C2W beside word models of the same text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.statistics.results import BinaryScores
from embeddings.eval.tasks.evaluation_kind import EvaluationSettings, Subject
from embeddings.eval.tasks.kneser_ney import ngram_perplexity
from embeddings.eval.tasks.tagging import WordTable, read_tagging_set, score_tagging
from embeddings.plugins.neural.context2vec import Context2Vec
from embeddings.support.cosine import normalize_rows
from studies.grid import Study, append_rows, markdown, read_rows

OBJECTIVES = Path(__file__).parents[2] / "eval" / "results" / "objectives" / "results.tsv"
MODELS: dict[str, dict[str, Any]] = {  # the settings of each
    "cbow": {},
    "skipgram": {},
    "fasttext": {},
    "context2vec": {"epochs": 3, "learning_rate": 0.003},
    "c2w": {"epochs": 1, "learning_rate": 0.002},
}
PREDICTORS: dict[str, dict[str, Any]] = {  # the settings of models with probabilities of words
    "c2w": MODELS["c2w"],
    "context2vec": {"epochs": 1, "learning_rate": 0.003, "objective": "nce"},
}
READS = {  # what predicts a word
    "c2w": "all words before it in the sentence, by their characters",
    "context2vec": "all other words of the sentence",
    "skipgram": "one word near it",
    "cbow": "5 words on either side, in any order",
    "continuous-window": "5 words on either side, in their order",
}
ORDERS = (1, 2, 3, 5)
TAGGING = "ud-ewt"
GAPS = (
    "I ate a [] for lunch",
    "the capital of [] is a large city",
    "he was born in [] and died in 1950",
    "she [] the book in two days",
    "the river flows [] the city",
    "the band released their first [] in 1999",
    "the [] of the king lasted ten years",
    "this is a very [] problem",
    "they [] not agree with each other",
    "the army was defeated [] the battle",
)
SPELLINGS = (
    "gardenings", "unwalkable", "electrification", "londonish", "sixteeners", "disagreely", "reposted", "bookshelfs",
    "philosophize", "runned",
)  # fmt: skip
TOP = 5
MEASURES = ("mean reciprocal rank", "among the first 10", "median rank")


Table = list[list[str]]  # with its header


class Neural(Study):
    """Trains context2vec and C2W beside word models of the same text, and writes six tables to the folder of --out.

    --models is a folder that keeps the models; one that is there already is not trained again. The table "perplexity"
    requires --heldout and the text of `eval/results/objectives/results.tsv` as --corpus: it is a comparison with its
    models. The table "times" has the seconds of training: measure it on a machine that does nothing else.
    """

    results = "neural/tables"
    defaults: ClassVar = {
        "models": str, "corpus": "sample", "heldout": None,
        "table": ["substitutes", "spellings", "hidden-words", "tagging", "times"],
    }  # fmt: skip

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Train what is missing, and write the tables as Markdown and as tab-separated values."""
        self.loaded: dict[Path, em.Model] = {}
        out.parent.mkdir(parents=True, exist_ok=True)
        for path in (out.with_name(f"{name}.tsv") for name in self.options.table):
            if not only_table:
                heads, *cells = TABLES[path.stem](self)
                path.unlink(missing_ok=True)
                append_rows(path, heads, cells)
            rows = read_rows(path)
            write_text(markdown([*rows[0]], [[*row.values()] for row in rows]), path.with_suffix(".md"))

    def model(self, name: str, *, is_predictor: bool = False) -> em.Model:
        """A model, trained if the folder does not have it; a predictor has probabilities of words."""
        path = Path(self.options.models) / (f"{name}-perplexity" if is_predictor else name)
        if path not in self.loaded:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                settings = (PREDICTORS if is_predictor else MODELS)[name]
                em.train(name, self.options.corpus, threads=1, seed=1, **settings).save(path)
            self.loaded[path] = em.load_model(path)
        return self.loaded[path]


def substitutes(study: Neural) -> Table:
    """The words that fit gaps."""
    model = study.model("context2vec")
    return [["text", "substitutes"], *([text, join(model.substitutes(text, top=TOP))] for text in GAPS)]


def spellings(study: Neural) -> Table:
    """The nearest words of invented spellings."""
    names = ("c2w", "fasttext")
    rows = [
        [word, *(join(study.model(name).vectors.most_similar(word, top=TOP)) for name in names)] for word in SPELLINGS
    ]
    return [["spelling", *(f"nearest in `{name}`" for name in names)], *rows]


def times(study: Neural) -> Table:
    """The settings of the models, and how long they took."""
    table = [["model", "settings", "seconds of training, one thread"]]
    for name, own in MODELS.items():
        settings = ", ".join(f"`{key}={value}`" for key, value in own.items()) or "defaults"
        table.append([f"`{name}`", settings, f"{study.model(name).record['seconds']:.0f}"])
    return table


def join(neighbours: Sequence[tuple[str, float]]) -> str:
    """Words, best first."""
    return ", ".join(word for word, _ in neighbours)


def sentences_of(model: em.Model) -> list[np.ndarray]:
    """Every fourth sentence of the test text, as rows of the vocabulary; its size for unknown words."""
    test, unknown = read_tagging_set(TAGGING).test, len(model.vocabulary)
    rows = [model.vectors.find(word) for word in test.words]
    ids = np.array([unknown if row is None else row for row in rows], np.int64)
    return np.split(ids, test.ends[:-1])[::4]


def hidden_words(study: Neural) -> Table:
    """The ranks of the words of the test text among all words, by what predicts them from the words around them."""
    context2vec, cbow = study.model("context2vec"), study.model("cbow")
    matrix, sentences = context2vec.vectors.matrix, sentences_of(context2vec)
    contexts = Context2Vec.context_encoder(context2vec)(sentences)
    ranks = {
        "`context2vec`, cosine": ranks_of(sentences, contexts, normalize_rows(matrix)),
        "`context2vec`, product": ranks_of(sentences, contexts, matrix),
    }
    sentences = sentences_of(cbow)
    for name, window in (("window", None), ("sentence", 10_000)):
        found = ranks_of(sentences, means(cbow, sentences, window=window), cbow.tables["output"])
        ranks[f"`cbow`, mean of the {name} and output vectors"] = found
    ranks["frequency of the word"] = (1 + ids[ids < len(cbow.vocabulary)] for ids in sentences)
    rows = ([name, *figures(np.concatenate(list(one)))] for name, one in ranks.items())
    return [["model", "words", *MEASURES], *rows]


def figures(ranks: np.ndarray) -> list[str]:
    """The number of words, and the measures of their ranks."""
    values = np.mean(1 / ranks), np.mean(ranks <= 10)
    return [f"{len(ranks):,}", *(f"{value:.3f}" for value in values), f"{np.median(ranks):.0f}"]


def ranks_of(sentences: list[np.ndarray], contexts: list[np.ndarray], outputs: np.ndarray) -> Iterator[np.ndarray]:
    """The rank of each known word of each sentence by the products of its context with output vectors, from 1 on."""
    for ids, rows in zip(sentences, contexts, strict=True):
        known = np.flatnonzero(ids < len(outputs))
        scores = rows[known] @ outputs.T
        yield 1 + (scores > scores[np.arange(len(known)), ids[known]][:, None]).sum(axis=1)


def means(model: em.Model, sentences: list[np.ndarray], window: int | None = None) -> list[np.ndarray]:
    """For each word of each sentence the mean of the vectors of the known words in its window."""
    window = window or model.settings["window"]
    matrix = np.vstack([model.vectors.matrix, np.zeros_like(model.vectors.matrix[:1])])
    contexts = []
    for ids in sentences:
        places = np.arange(len(ids))
        is_near = (abs(places[:, None] - places) <= window) & (places[:, None] != places) & (ids < len(matrix) - 1)
        contexts.append(is_near @ matrix[ids] / np.maximum(is_near.sum(axis=1, keepdims=True), 1))
    return contexts


def tagging(study: Neural) -> Table:
    """The accuracy of tagging with the vectors of each model: of all words, and by whether the text has the word."""
    test = read_tagging_set(TAGGING)
    known = WordTable.of(study.model("skipgram").vectors, test)
    is_known = known.has_vector[known.rows(test.test)]
    table = [["model", "all words", "known words", "unseen words"]]
    for name in MODELS:
        model = study.model(name)
        scores = score_tagging(Subject(model, name, EvaluationSettings()), test)[-1]
        assert isinstance(scores, BinaryScores)
        parts = scores.correct, scores.correct[is_known], scores.correct[~is_known]
        table.append([f"`{name}`", *(f"{part.mean():.3f}" for part in parts)])
    return table


def perplexity(study: Neural) -> Table:
    """The perplexity of the held-out text by n-gram models, by models of windows, and by recurrent networks."""
    table = [["model", "objective", "passes", "predicts a word from", "perplexity"]]
    for order in ORDERS:
        texts = em.Corpus(study.options.corpus), em.Corpus(study.options.heldout)
        value = ngram_perplexity(*texts, order=order, min_count=em.CBOW.min_count).perplexity
        before = {1: "nothing", 2: "the word before it"}.get(order, f"{order - 1} words before it")
        table.append([f"{order}-grams", "Kneser-Ney", "1", before, f"{value:.0f}"])
    rows = [row for row in read_rows(OBJECTIVES) if row["measure"] == "perplexity"]
    for name in READS:
        same = [row for row in rows if row["model"] == name and row["objective"] != "full-softmax"]  # of less text
        if name in PREDICTORS:
            model = study.model(name, is_predictor=True)
            measured, settings = em.evaluate(model, perplexity=study.options.heldout)[1].value, model.settings
            how = f"`{settings['objective']}`", str(settings["epochs"])
            table.append([f"`{name}`", *how, READS[name], f"{measured:.0f}"])
        elif same:
            best = min(same, key=lambda row: float(row["value"]))
            how = f"`{best['objective']}`", best["epochs"]
            table.append([f"`{name}`", *how, READS[name], f"{float(best['value']):.0f}"])
    return table


FUNCTIONS = (perplexity, substitutes, spellings, hidden_words, tagging, times)
TABLES = {function.__name__.replace("_", "-"): function for function in FUNCTIONS}

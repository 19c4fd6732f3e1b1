"""Trains context2vec and C2W beside word models of the same text: substitutes, spellings, hidden words, tagging.

python tools/neural_study.py FOLDER [--corpus CORPUS] [--heldout TEXT] [--results FOLDER] [--table NAME...]

FOLDER keeps the models; one that is there already is not trained again. The tables are written to the folder of
results, by default all of them but "perplexity", which requires --heldout and the text of
`eval/results/objectives/results.tsv` as CORPUS: it is a comparison with its models. "times" has the seconds of
training: measure it on a machine that does nothing else.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import embeddings as em
from embeddings.eval.statistics.results import BinaryScores
from embeddings.eval.tasks.kneser_ney import ngram_perplexity
from embeddings.eval.tasks.tagging import WordTable, read_tagging_set, score_tagging
from embeddings.plugins.neural.context2vec import Context2Vec
from embeddings.support.markup import table_lines

OBJECTIVES = Path(__file__).parents[1] / "eval" / "results" / "objectives" / "results.tsv"
MODELS: dict[str, dict[str, Any]] = {  # the settings of each
    "cbow": {},
    "skipgram": {},
    "fasttext": {},
    "context2vec": {"epochs": 3, "learning_rate": 0.003},
    "c2w": {"epochs": 1, "learning_rate": 0.002},
}
PREDICTORS: dict[str, dict[str, Any]] = {  # the settings of models with probabilities of words
    "c2w": {"epochs": 1, "learning_rate": 0.002},
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


class LazyModels(dict[str, em.Model]):
    """The models in a folder, loaded when they are used, and trained if they are not there."""

    def __init__(self, folder: Path, corpus: str, settings: Mapping[str, Mapping[str, Any]], heldout: str) -> None:
        super().__init__()
        self.folder, self.corpus, self.settings, self.heldout = folder, corpus, settings, heldout

    def __missing__(self, name: str) -> em.Model:
        path = self.folder / name
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            em.train(name, self.corpus, threads=1, seed=1, **self.settings[name]).save(path)
        self[name] = em.load_model(path)
        return self[name]


Models = LazyModels


def substitutes(models: Models) -> Table:
    """The words that fit gaps."""
    rows = [[text, join(models["context2vec"].substitutes(text, top=TOP))] for text in GAPS]
    return [["text", "substitutes"], *rows]


def spellings(models: Models) -> Table:
    """The nearest words of invented spellings."""
    names = ("c2w", "fasttext")
    rows = [[word, *(join(models[name].vectors.most_similar(word, top=TOP)) for name in names)] for word in SPELLINGS]
    return [["spelling", *(f"nearest in `{name}`" for name in names)], *rows]


def times(models: Models) -> Table:
    """The settings of the models, and how long they took."""
    rows = [[f"`{name}`", settings_of(name), f"{models[name].record['seconds']:.0f}"] for name in MODELS]
    return [["model", "settings", "seconds of training, one thread"], *rows]


def settings_of(name: str) -> str:
    """The settings that are not the defaults."""
    return ", ".join(f"`{key}={value}`" for key, value in MODELS[name].items()) or "defaults"


def join(neighbours: Sequence[tuple[str, float]]) -> str:
    """Words, best first."""
    return ", ".join(word for word, _ in neighbours)


def write(path: Path, table: Table) -> None:
    """Write a table as Markdown and as tab-separated values."""
    path.with_suffix(".md").write_text("\n".join(table_lines(table[0], table[1:])) + "\n", encoding="utf-8")
    with path.with_suffix(".tsv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(table)


def sentences_of(model: em.Model) -> list[np.ndarray]:
    """Every fourth sentence of the test text, as rows of the vocabulary; its size for unknown words."""
    test, unknown = read_tagging_set(TAGGING).test, len(model.vocabulary)
    rows = [model.vectors.find(word) for word in test.words]
    ids = np.array([unknown if row is None else row for row in rows], np.int64)
    return np.split(ids, test.ends[:-1])[::4]


def hidden_words(models: Models) -> Table:
    """The ranks of the words of the test text among all words, by what predicts them from the words around them."""
    context2vec, cbow = models["context2vec"], models["cbow"]
    encode = Context2Vec.context_encoder(context2vec)
    unit = context2vec.vectors.matrix / np.linalg.norm(context2vec.vectors.matrix, axis=1, keepdims=True)
    methods: dict[str, tuple[Callable[[list[np.ndarray]], list[np.ndarray]], np.ndarray, em.Model]] = {
        "`context2vec`, cosine": (encode, unit, context2vec),
        "`context2vec`, product": (encode, context2vec.vectors.matrix, context2vec),
        "`cbow`, mean of the window and output vectors": (
            lambda sentences: means(cbow, sentences), cbow.tables["output"], cbow,
        ),
        "`cbow`, mean of the sentence and output vectors": (
            lambda sentences: means(cbow, sentences, window=10_000), cbow.tables["output"], cbow,
        ),
    }  # fmt: skip
    table = [["model", "words", *MEASURES]]
    for name, (encoder, outputs, model) in methods.items():
        sentences = sentences_of(model)
        ranks = np.concatenate(list(ranks_of(sentences, encoder(sentences), outputs)))
        table.append([name, *figures(ranks)])
    frequency_ranks = np.concatenate([1 + ids[ids < len(cbow.vocabulary)] for ids in sentences_of(cbow)])
    return [*table, ["frequency of the word", *figures(frequency_ranks)]]


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


def tagging(models: Models) -> Table:
    """The accuracy of tagging with the vectors of each model: of all words, and by whether the text has the word."""
    test = read_tagging_set(TAGGING)
    known = WordTable.of(models["skipgram"].vectors, test)
    is_known = known.has_vector[known.rows(test.test)]
    table = [["model", "all words", "known words", "unseen words"]]
    for name, model in ((name, models[name]) for name in MODELS):
        scores = score_tagging(model.vectors, test, name=name)[-1]
        assert isinstance(scores, BinaryScores)
        parts = scores.correct, scores.correct[is_known], scores.correct[~is_known]
        table.append([f"`{name}`", *(f"{part.mean():.3f}" for part in parts)])
    return table


def perplexity(models: Models) -> Table:
    """The perplexity of the held-out text by n-gram models, by models of windows, and by recurrent networks."""
    table = [["model", "objective", "passes", "predicts a word from", "perplexity"]]
    for order in ORDERS:
        texts = em.Corpus(models.corpus), em.Corpus(models.heldout)
        value = ngram_perplexity(*texts, order=order, min_count=em.CBOW.min_count).perplexity
        before = {1: "nothing", 2: "the word before it"}.get(order, f"{order - 1} words before it")
        table.append([f"{order}-grams", "Kneser-Ney", "1", before, f"{value:.0f}"])
    with OBJECTIVES.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["measure"] == "perplexity"]
    for name in READS:
        same = [row for row in rows if row["model"] == name and row["objective"] != "full-softmax"]  # of less text
        if name in PREDICTORS:
            measured, settings = em.evaluate(models[name], perplexity=models.heldout)[1].value, models[name].settings
            how = f"`{settings['objective']}`", str(settings["epochs"])
            table.append([f"`{name}`", *how, READS[name], f"{measured:.0f}"])
        elif same:
            best = min(same, key=lambda row: float(row["value"]))
            how = f"`{best['objective']}`", best["epochs"]
            table.append([f"`{name}`", *how, READS[name], f"{float(best['value']):.0f}"])
    return table


TABLES = {
    "perplexity": perplexity,
    "substitutes": substitutes,
    "spellings": spellings,
    "hidden-words": hidden_words,
    "tagging": tagging,
    "times": times,
}


def main(arguments: Sequence[str]) -> None:
    """Train what is missing, and write tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", default="sample")
    parser.add_argument("--heldout", default="")
    parser.add_argument("--results", type=Path, default=Path("eval/results/neural"))
    parser.add_argument("--table", action="append", choices=TABLES)
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    for name in options.table or [name for name in TABLES if options.heldout or name != "perplexity"]:
        settings = PREDICTORS if name == "perplexity" else MODELS
        models = LazyModels(options.folder, options.corpus, settings, options.heldout)
        write(options.results / name, TABLES[name](models))


if __name__ == "__main__":
    main(sys.argv[1:])

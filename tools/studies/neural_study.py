"""context2vec and C2W beside word models of the same text."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
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
LANGUAGE_MODELS: tuple[dict[str, Any], ...] = (  # the settings of each, besides those that all have
    {"word_network": "lookup", "objective": "nce"},
    {"word_network": "lookup", "objective": "nce", "tie": True},
    {"word_network": "lookup", "objective": "nce", "tie": True, "dropout": 0.3},
    {"word_network": "bilstm", "objective": "nce"},
    {"word_network": "bilstm", "objective": "nce", "dropout": 0.3},
    {"word_network": "cnn", "objective": "nce"},
    {"word_network": "lookup", "objective": "adaptive-softmax"},
    {"word_network": "lookup", "objective": "adaptive-softmax", "dropout": 0.3},
    {"word_network": "lookup", "objective": "adaptive-softmax", "shuffle": False},
    {"word_network": "lookup", "objective": "adaptive-softmax", "shuffle": False, "carry_state": True},
    {"word_network": "bilstm", "objective": "adaptive-softmax"},
    {"word_network": "cnn", "objective": "adaptive-softmax"},
)
NAMED = ("word_network", "objective")  # settings with a column
OUTPUTS = re.compile(r"(next_words|bias|head|projection\d|tail\d|sentence_weights|sentence_bias)$")  # do not read words
SUBSTITUTION = {"epochs": 1, "learning_rate": 0.003, "min_count": 20, "max_length": 60}
SUBSTITUTION_MEASURES = ("GAP of candidates", "best", "oot")
SAME = {"dim": 100, "epochs": 2, "learning_rate": 0.003}
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
    """Trains context2vec and C2W beside word models of the same text, and writes tables to the folder of --out.

    --models is a folder that keeps the models; one that is there already is not trained again. The table "perplexity"
    requires --heldout and the text of `eval/results/objectives/results.tsv` as --corpus: it is a comparison with its
    models. The table "networks" requires --heldout, too, and a --corpus with a sentence a line; "substitution" requires
    such a --corpus and the folder --substitution, with the data of SemEval 2007, task 10, as Melamud et al. 2015
    prepared them (lst_test.preprocessed, lst_test.gold, lst.gold.candidates) and sentence-completion.csv with its
    answers. "tagging", and in "networks" the language models without other settings, have as many seeds as --seeds. The
    table "times" has the seconds of training: measure it on a machine that does nothing else.
    """

    results = "neural/tables"
    defaults: ClassVar = {
        "models": str, "corpus": "sample", "heldout": None, "substitution": None, "seeds": 1,
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

    def model(self, name: str, *, is_predictor: bool = False, seed: int = 1) -> em.Model:
        """A model, trained if the folder does not have it; a predictor has probabilities of words."""
        path = Path(self.options.models) / (f"{name}-perplexity" if is_predictor else name + suffix(seed))
        if path not in self.loaded:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                settings = (PREDICTORS if is_predictor else MODELS)[name]
                em.train(name, self.options.corpus, threads=1, seed=seed, **settings).save(path)
            self.loaded[path] = em.load_model(path)
        return self.loaded[path]

    def variant(self, name: str, settings: dict[str, Any], seed: int = 1, **others: Any) -> em.Model:
        """A model with some settings, which name its folder, trained if the folder does not exist."""
        path = Path(self.options.models) / ("-".join([name, *map(str, settings.values())]) + suffix(seed))
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            em.train(name, self.options.corpus, threads=1, seed=seed, **settings, **others).save(path)
        return em.load_model(path)


def suffix(seed: int) -> str:
    """The end of the name of a model's folder."""
    return f"-seed{seed}" * (seed > 1)


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
    table = [["model", "seed", "all words", "known words", "unseen words"]]
    for name, seed in product(MODELS, range(1, study.options.seeds + 1)):
        model = study.model(name, seed=seed)
        scores = score_tagging(Subject(model, name, EvaluationSettings()), test)[-1]
        assert isinstance(scores, BinaryScores)
        parts = scores.correct, scores.correct[is_known], scores.correct[~is_known]
        table.append([f"`{name}`", str(seed), *(f"{part.mean():.3f}" for part in parts)])
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


def networks(study: Neural) -> Table:
    """The perplexity of the held-out text by language models whose words are read in different ways."""
    parameters = ("parameters that read words", "all parameters")
    table = [["words", "objective", "other settings", "seed", *parameters, "perplexity"]]
    every = range(1, study.options.seeds + 1)
    for settings, seed in ((one, seed) for one in LANGUAGE_MODELS for seed in (every if len(one) == 2 else (1,))):
        model = study.variant("c2w", settings, seed, **SAME)
        sizes = {name: table.size for name, table in model.tables.items() if name != "code_points"}
        if settings["word_network"] == "lookup":
            sizes["words"] = model.vectors.matrix.size
        reading = sum(size for name, size in sizes.items() if not OUTPUTS.match(name))
        value = em.evaluate(model, perplexity=study.options.heldout)[1].value
        others = ", ".join(f"`{key}={value}`" for key, value in settings.items() if key not in NAMED) or "none"
        counts = f"{reading:,}", f"{sum(sizes.values()):,}"
        names = f"`{settings['word_network']}`", f"`{settings['objective']}`", others, str(seed)
        table.append([*names, *counts, f"{value:.0f}"])
    return table


def substitution(study: Neural) -> Table:
    """Lexical substitution of SemEval 2007 and sentence completion, by contexts and by the frequency of candidates."""
    folder = Path(study.options.substitution)
    model = study.variant("context2vec", SUBSTITUTION)
    items, completions = read_substitution(folder), read_completions(folder)
    vectors, unknown = normalize_rows(model.vectors.matrix), np.zeros(model.vectors.dim)
    contexts = normalize_rows(model.context_vectors([item.text for item in items]))
    targets = [model.vectors.find(item.target) for item in items]
    rows = np.array([unknown if row is None else vectors[row] for row in targets])
    questions = normalize_rows(model.context_vectors([text for text, _, _ in completions]))
    counts = np.tile(np.asarray(model.vocabulary.counts, float), (len(items), 1))
    ranked = {"context": contexts @ vectors.T, "context and target": (contexts + rows) @ vectors.T, "frequency": counts}
    table = [["ranks words by", "measure", "items", "percent"]]
    for name, scores in ranked.items():
        scored = [substitution_scores(model, item, own) for item, own in zip(items, scores, strict=True)]
        for measure, values in zip(SUBSTITUTION_MEASURES, zip(*scored, strict=True), strict=True):
            known = [value for value in values if value is not None]
            table.append([name, f"substitution: {measure}", f"{len(known):,}", f"{100 * np.mean(known):.1f}"])
    for name, scores in {"context": questions @ vectors.T, "frequency": counts[: len(questions)]}.items():
        chosen = [
            np.argmax(candidate_scores(model, words, own)) == answer
            for (_, words, answer), own in zip(completions, scores, strict=True)
        ]
        table.append([name, "sentence completion: accuracy", f"{len(chosen):,}", f"{100 * np.mean(chosen):.1f}"])
    return table


@dataclass(frozen=True)
class SubstitutionItem:
    """A sentence with a gap for a target word, the number of people who gave each substitute, and candidates."""

    target: str
    text: str
    gold: dict[str, int]
    candidates: list[str]


def read_substitution(folder: Path) -> list[SubstitutionItem]:
    """The test sentences of SemEval 2007, task 10, and all single words that people gave for a target as candidates."""
    candidates, gold = {}, {}
    for line in (folder / "lst.gold.candidates").read_text("utf-8").splitlines():
        target, _, words = line.partition("::")
        candidates[target] = [word for word in words.split(";") if word and not {" ", "-"} & set(word)]
    for line in (folder / "lst_test.gold").read_text("utf-8").splitlines():
        key, _, answers = line.partition(" :: ")
        pairs = (answer.rsplit(" ", 1) for answer in answers.split(";") if answer.strip())
        gold[key] = {word.strip(): int(count) for word, count in pairs}
    items = []
    for line in filter(None, (folder / "lst_test.preprocessed").read_text("latin-1").split("\n")):
        target, number, place, text = line.split("\t")
        words = text.split()
        words[int(place)] = "[]"
        if own := gold.get(f"{target} {number}"):
            items.append(SubstitutionItem(target.split(".")[0], " ".join(words), own, candidates[target]))
    return items


def read_completions(folder: Path) -> list[tuple[str, list[str], int]]:
    """The texts with a gap, five candidates and the number of the answer of the sentence completion challenge."""
    with (folder / "sentence-completion.csv").open(encoding="utf-8") as file:
        questions = list(csv.reader(file))[1:]
    with (folder / "sentence-completion-answers.csv").open(encoding="utf-8") as file:
        answers = dict(list(csv.reader(file))[1:])
    return [(text.replace("_____", "[]"), words, "abcde".index(answers[key])) for key, text, *words in questions]


def candidate_scores(model: em.Model, words: list[str], scores: np.ndarray) -> np.ndarray:
    """The scores of words, given those of the vocabulary; unknown words have the lowest."""
    rows = [model.vectors.find(word.lower()) for word in words]
    return np.array([-np.inf if row is None else scores[row] for row in rows])


def substitution_scores(model: em.Model, item: SubstitutionItem, scores: np.ndarray) -> list[float | None]:
    """GAP of the candidates, and `best` and `oot` of words of the vocabulary; None without a single word as substitute.

    GAP is that of Kishida (2005) as Thater et al. (2010) use it. `best` is the share of the people who gave the first
    word, `oot` of those who gave one of the first ten, as McCarthy and Navigli (2007) define them, exact forms only.
    """
    order = np.argsort(-candidate_scores(model, item.candidates, scores), kind="stable")
    gains = [item.gold.get(item.candidates[number], 0) for number in order]
    ideal = sorted((item.gold[word] for word in item.candidates if word in item.gold), reverse=True)
    gap = precision(gains) / precision(ideal) if ideal else None
    ranked = (model.vectors.words[row] for row in np.argsort(-scores)[:50])
    guesses = [word for word in ranked if word != item.target and word.isalpha()][:10]
    total = sum(item.gold.values())
    return [gap, item.gold.get(guesses[0], 0) / total, sum(item.gold.get(word, 0) for word in guesses) / total]


def precision(gains: Sequence[int]) -> float:
    """The sum of the mean gains up to each place with a gain."""
    means = np.cumsum(gains) / np.arange(1, len(gains) + 1)
    return float(means[np.array(gains) > 0].sum())


FUNCTIONS = (perplexity, networks, substitution, substitutes, spellings, hidden_words, tagging, times)
TABLES = {function.__name__.replace("_", "-"): function for function in FUNCTIONS}

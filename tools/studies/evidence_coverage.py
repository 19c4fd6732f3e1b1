"""How often the 95 % intervals of `embeddings stability` contain what they promise."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import embeddings as em
from embeddings.analysis.confidence import interval, rank_interval
from embeddings.analysis.stability_runs import train_again, unit_rows
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import write_selection
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.training.training_data import prepare
from studies.grid import Study, append_rows, log, markdown

Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]
MIN_COUNT = 5  # expected in a corpus of a repetition
BANDS = (5, 20, 100, 1000)  # expected counts at which bands of words begin
WORDS_PER_BAND, POSITIONS = 30, (1, 2, 5, 10, 30, 100, 1000)  # of neighbours in a model of the whole population
OWN_NEIGHBOURS, QUESTIONS = 10, 200
COSINES = (0.5, 0.7, 0.8)  # where bands of cosines begin
CHOSEN, ALL = "as in the command", "all"  # the method of `embeddings neighbours`, the group of all words
DRAWS_OF_OWN = 12  # for the neighbours of each model, which differ from one to the next
T, PERCENTILES, BASIC, SHIFTED, HALVES = "t", "percentiles", "basic", "t, centred by resamples", "t, half samples"


class Targets(NamedTuple):
    """What is measured in every training, by rows of the vocabulary.

    words: (words,). pairs: (pairs, 2). questions: (questions, 4). rated: (rated pairs, 2), ratings: (rated pairs,).
    counts: (vocabulary,) expected in a corpus.
    """

    words: Numbers
    pairs: Numbers
    questions: Numbers
    rated: Numbers
    ratings: Values
    counts: Values


def find_targets(reference: em.Vectors, counts: Values) -> Targets:
    """Choose words of each frequency, neighbours of theirs at several positions, and items of test sets."""
    random, rows = np.random.default_rng(0), reference.normalize().matrix
    bands = np.digitize(counts, BANDS)
    members = [random.permutation(np.flatnonzero(bands == band)) for band in range(1, len(BANDS) + 1)]
    words = np.concatenate([one[:WORDS_PER_BAND] for one in members])
    order = np.argsort(-(rows[words] @ rows.T), axis=1)
    positions = [position for position in POSITIONS if position < order.shape[1]]
    pairs = np.stack([np.repeat(words, len(positions)), order[:, positions].ravel()], axis=1)
    test = read_questions("google-analogies")
    questions = known_rows(reference, [(*q, a[0]) for q, a in zip(test.questions, test.answers, strict=True)])[0]
    rated = read_word_pairs("wordsim353")
    rated_rows, is_known = known_rows(reference, rated.pairs)
    chosen = random.permutation(questions)[:QUESTIONS]
    return Targets(words, pairs, chosen, rated_rows, np.array(rated.ratings)[is_known], counts)


def known_rows(vectors: em.Vectors, items: Sequence[Sequence[str]]) -> tuple[Numbers, NDArray[np.bool_]]:
    """The rows (known items, words) of the items whose words all have vectors, and which ones these are."""
    found = ((vectors.find(word.lower()) for word in item) for item in items)
    rows = np.array([[-1 if row is None else row for row in item] for item in found])
    is_known = (rows >= 0).all(axis=1)
    return rows[is_known], is_known


def own_neighbours(matrix: Matrix, words: Numbers) -> Numbers:
    """The pairs (words x neighbours, 2) of words and their nearest neighbours."""
    cosines = matrix[words] @ matrix.T
    cosines[np.arange(len(words)), words] = -np.inf
    nearest = np.argsort(-cosines, axis=1)[:, :OWN_NEIGHBOURS]
    return np.stack([np.repeat(words, OWN_NEIGHBOURS), nearest.ravel()], axis=1)


def measure(matrix: Matrix, targets: Targets, own: Numbers) -> dict[str, Any]:
    """The cosines and ranks of pairs, the scores and ranks of answers, and the correlation with ratings."""
    questions, result = targets.questions, {}
    for name, queries, rows, excluded in (
        ("pair", matrix[targets.pairs[:, 0]], targets.pairs[:, 1], targets.pairs[:, :1]),
        ("own", matrix[own[:, 0]], own[:, 1], own[:, :1]),
        ("answer", question_vectors(matrix, questions), questions[:, 3], questions[:, :3]),
    ):
        result[f"{name}_cosines"], result[f"{name}_ranks"] = cosines_and_ranks(matrix, queries, rows, excluded)
    rated = np.einsum("ij,ij->i", *matrix[targets.rated.T])
    return {**result, "spearman": np.array([spearmanr(rated, targets.ratings).statistic])}


def question_vectors(matrix: Matrix, questions: Numbers) -> Matrix:
    """The vector b - a + c of each question, of length 1; zeros if a word does not occur."""
    a, b, c = (matrix[rows] for rows in questions.T[:3])
    query = np.asarray(b - a + c)
    occurs = (a.any(axis=1) & b.any(axis=1) & c.any(axis=1))[:, None]
    return np.where(occurs, query / np.maximum(np.linalg.norm(query, axis=1, keepdims=True), 1e-12), 0)


def cosines_and_ranks(matrix: Matrix, queries: Matrix, rows: Numbers, excluded: Numbers) -> tuple[Matrix, Numbers]:
    """The cosine of each query with a row, and the rank of this row among all but the excluded ones."""
    cosines, ranks = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
    for begin in range(0, len(rows), 200):
        part = slice(begin, begin + 200)
        scores = queries[part] @ matrix.T
        cosines[part] = found = scores[np.arange(len(scores)), rows[part]]
        scores[np.arange(len(scores))[:, None], excluded[part]] = -np.inf
        ranks[part] = 1 + (scores > found[:, None]).sum(axis=1)
    return cosines, ranks


class Coverage(Study):
    """Measures how often the 95 % intervals of `embeddings stability` contain what they promise.

    The documents of --corpus are a --population with a name. Each repetition draws a corpus of --documents from it,
    trains a model, and trains it again on resamples of this corpus and with other seeds, as `embeddings stability`
    does. Further --draws, one training each, show which value corpora of this size give on average. Repetitions and
    draws that are in the folder --work are skipped; --begin is the number of the first repetition. The table compares
    the intervals of all populations in the folder with these values, and coverage.tsv beside it has all numbers.
    """

    results = "evidence/results"
    defaults: ClassVar = {
        "work": str, "population": str, "corpus": str, "documents": 566, "repetitions": 20, "draws": 40,
        "resamples": 20, "seeds": 5, "halves": 0, "epochs": 5, "dim": 50, "begin": 0,
    }  # fmt: skip

    def prepare_page(self, out: Path) -> None:
        """Measure what the folder does not hold yet."""
        options = self.options
        self.folder = Path(options.work) / options.population
        self.folder.mkdir(parents=True, exist_ok=True)
        self.corpus = em.Corpus(options.corpus).encode()
        share = options.documents / (len(self.corpus.documents) - 1)
        min_count = round(MIN_COUNT / share)
        self.trainer = em.SkipGram(dim=options.dim, epochs=options.epochs, min_count=min_count)
        self.vocabulary = self.train(self.corpus, 0)
        self.targets = find_targets(self.vocabulary, self.corpus.select(min_count=min_count).counts * share)
        for number in range(options.draws):
            self.once(f"draw-{number:03}.npz", lambda number=number: self.measure_model(10_000 + number, 1, number))
        for number in range(options.begin, options.begin + options.repetitions):
            seed = 1000 * (number + 100) - 1
            self.once(f"model-{number:03}.npz", lambda n=number, seed=seed: self.measure_model(seed, 2, n))
            self.once(f"repetition-{number:03}.npz", lambda number=number: self.measure_repetition(number))

    def train(self, encoded: EncodedCorpus, seed: int) -> em.Vectors:
        """Vectors that are trained on a corpus, on one thread."""
        return self.trainer.learn(prepare(self.trainer, encoded, threads=1, seed=seed)).vectors

    def draw(self, *seed: int) -> EncodedCorpus:
        """A corpus of documents that are drawn from the population with replacement."""
        count = len(self.corpus.documents) - 1
        return select(self.corpus, np.random.default_rng(seed).integers(count, size=self.options.documents))

    def rows(self, encoded: EncodedCorpus, seed: int) -> Matrix:
        """Vectors of length 1 of a training, as replicates keep them; zeros for words that do not occur."""
        return unit_rows(self.train(encoded, seed), self.vocabulary, encoded).astype(np.float32)

    def once(self, name: str, measure: Any) -> None:
        """Write the arrays of a measurement to a file, unless it exists."""
        path = self.folder / name
        if not path.exists():
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.savez_compressed(file, **measure())
            partial.replace(path)
            log(str(path))

    def measure_model(self, seed: int, *drawn: int) -> dict[str, Any]:
        """The vectors of one training on a corpus of its own."""
        with self.draw(*drawn) as corpus:
            return {"matrix": self.rows(corpus, seed).astype(np.float16)}

    def measure_repetition(self, number: int) -> dict[str, Any]:
        """Measurements of a model, its resamples and its other seeds; of half samples, drawn without replacement."""
        options, seed = self.options, 1000 * (number + 100)
        with self.draw(2, number) as corpus:
            model = load_matrix(self.folder / f"model-{number:03}.npz")
            own = own_neighbours(model, self.targets.words)
            values = [measure(model, self.targets, own)]
            numbers = options.resamples, options.seeds, seed
            for rows in train_again(self.trainer, self.vocabulary, corpus, "documents", *numbers, threads=1):
                values.append(measure(rows.astype(np.float32), self.targets, own))
            count = len(corpus.documents) - 1
            for i in range(options.halves):
                half = np.random.default_rng((seed, i)).permutation(count)[: count // 2]
                with select(corpus, half) as source:
                    values.append(measure(self.rows(source, seed + 500 + i), self.targets, own))
        arrays = {name: np.stack([one[name] for one in values]) for name in values[0]}
        sizes = {"resamples": options.resamples, "seeds": options.seeds}
        return {**arrays, "own": own, **sizes, **self.targets._asdict()}

    def page(self, out: Path) -> str:
        """The tables of the populations in the folder; all numbers go to coverage.tsv."""
        work, sizes, rows = Path(self.options.work), {}, []
        for folder in sorted(path for path in work.iterdir() if any(path.glob("repetition-*.npz"))):
            population = Population(folder)
            sizes[folder.name] = (len(population.repetitions), len(population.matrices))
            found = (row for one in population.quantities() for row in coverage_rows(one))
            rows += [{"population": folder.name, **row} for row in found]
        path = out.with_name("coverage.tsv")
        path.unlink(missing_ok=True)
        append_rows(path, list(rows[0]), dict.fromkeys(tuple(row.values()) for row in rows))
        return coverage_markdown(rows, sizes)


def select(corpus: EncodedCorpus, chosen: np.ndarray) -> EncodedCorpus:
    """Some documents of a corpus."""
    with new_folder(corpora_folder()) as folder:
        return write_selection(corpus, np.asarray(corpus.documents), np.sort(chosen), folder)


class Trainings(NamedTuple):
    """A quantity in a repetition; NaN for words that do not occur.

    values: (1 + trainings, items), the model first. ranks: of the same shape; None for no ranks. resamples, seeds: how
    many there are. background: (items,) functions that return the cosines of all words in the model; None for none.
    """

    values: Values
    ranks: Values | None
    resamples: int
    seeds: int
    background: Callable[[int], Any] | None = None

    def part(self, kind: str) -> slice:
        """The trainings of a kind."""
        first, second = 1 + self.resamples, 1 + self.resamples + self.seeds
        return {"resamples": slice(1, first), "seeds": slice(first, second), "halves": slice(second, None)}[kind]


class Quantity(NamedTuple):
    """A quantity: its name, a group of each item, and its trainings and independent draws (draws, items) by repetition.

    is_rank: whether intervals are of ranks. is_selected: whether the model has selected the items.
    """

    name: str
    groups: NDArray[np.str_]
    repetitions: list[Trainings]
    draws: list[Values]
    is_rank: bool = False
    is_selected: bool = False

    @property
    def methods(self) -> list[str]:
        """The methods to compare."""
        if self.is_rank:
            return [CHOSEN, PERCENTILES]
        return [CHOSEN, *([T] if self.is_selected else []), PERCENTILES, BASIC, SHIFTED, HALVES]

    def bounds(self, number: int, item: int, method: str) -> tuple[float, float]:
        """The interval of an item in a repetition; NaN without enough trainings."""
        one = self.repetitions[number]
        value = one.values[0, item]
        resamples = one.values[one.part("halves" if method == HALVES else "resamples"), item]
        known = resamples[np.isfinite(resamples)]
        if not np.isfinite(value) or len(known) < 2:
            return np.nan, np.nan
        if method in (PERCENTILES, BASIC):
            if self.is_rank and one.ranks is not None:
                known = one.ranks[one.part("resamples"), item]
            low, high = np.percentile(known[np.isfinite(known)], [2.5, 97.5])
            return (low, high) if method == PERCENTILES else (2 * value - high, 2 * value - low)
        center = value if method != SHIFTED else 2 * value - known.mean()
        is_selected = method == CHOSEN and self.is_selected
        found = interval(center, resamples, one.values[one.part("seeds"), item], is_selected=is_selected, limit=2.0)
        has_ranks = self.is_rank and one.background is not None
        return rank_interval(found, one.background(item)) if has_ranks else (found.low, found.high)  # type: ignore[misc]


class Population:
    """What was measured in the repetitions and draws of a folder."""

    def __init__(self, folder: Path) -> None:
        numbers = [path.stem.removeprefix("repetition-") for path in sorted(folder.glob("repetition-*.npz"))]
        self.repetitions = [dict(np.load(folder / f"repetition-{number}.npz")) for number in numbers]
        self.models = [load_matrix(folder / f"model-{number}.npz") for number in numbers]
        self.matrices = [load_matrix(path) for path in sorted(folder.glob("draw-*.npz"))]
        self.targets = Targets(*(self.repetitions[0][name] for name in Targets._fields))
        self.drawn = stacked([measure(matrix, self.targets, self.targets.pairs[:1]) for matrix in self.matrices])

    def quantities(self) -> Iterator[Quantity]:
        """All quantities."""
        targets = self.targets
        bands = np.array([*(f"{low:,} to {high:,}" for low, high in pairwise(BANDS)), f"over {BANDS[-1]:,}"])
        by_count = bands[np.digitize(targets.counts[targets.pairs[:, 0]], BANDS) - 1]
        edges = np.digitize(np.nanmean(masked(self.drawn, "pair_cosines"), axis=0), COSINES)
        by_cosine = np.array([f"cosine below {COSINES[0]}", *(f"cosine from {low}" for low in COSINES)])[edges]
        each = len(targets.pairs) // len(targets.words)
        of_words = by_count[::each]
        everything = np.full(len(targets.questions), ALL)
        yield self.quantity("cosine", "pair", by_count)
        yield self.quantity("cosine", "pair", by_cosine)
        yield self.quantity("rank", "pair", by_count, is_rank=True)

        def differences(values: Values) -> Values:
            """The cosine of each pair less that of the next one with the same word."""
            return -np.diff(values.reshape(len(values), -1, each), axis=2).reshape(len(values), -1)

        yield self.changed("difference", "pair_cosines", np.repeat(of_words, each - 1), differences)
        yield self.quantity("analogy score", "answer", everything)
        yield self.quantity("analogy rank", "answer", everything, is_rank=True)
        yield self.changed("WordSim-353", "spearman", np.array([ALL]), np.asarray)
        groups = np.repeat(of_words, OWN_NEIGHBOURS)
        yield self.quantity("cosine of the ten nearest neighbours", "own", groups)
        yield self.quantity("rank of the ten nearest neighbours", "own", groups, is_rank=True)

    def quantity(self, name: str, kind: str, groups: NDArray[np.str_], *, is_rank: bool = False) -> Quantity:
        """The cosines or the ranks of items; "own" ones differ between models, which have selected them."""
        column = f"{kind}_{'ranks' if is_rank else 'cosines'}"
        parts, draws = [], []
        for one, model in zip(self.repetitions, self.models, strict=True):
            drawn = self.drawn
            if kind == "own":
                drawn = stacked([measure(matrix, self.targets, one["own"]) for matrix in self.matrices[:DRAWS_OF_OWN]])
            draws.append(masked(drawn, column))
            values = masked(one, f"{kind}_cosines"), masked(one, f"{kind}_ranks")
            background = self.background(model, kind, one["own"])
            parts.append(Trainings(*values, int(one["resamples"]), int(one["seeds"]), background))
        return Quantity(name, groups, parts, draws, is_rank, is_selected=kind == "own")

    def background(self, model: Matrix, kind: str, own: Numbers) -> Callable[[int], Any]:
        """A function from an item to the cosines of all words; neighbouring items often have the same word."""
        if kind == "answer":
            vectors = question_vectors(model, self.targets.questions)
            return lambda item: model @ vectors[item]
        rows = (own if kind == "own" else self.targets.pairs)[:, 0]
        cosines = lru_cache(maxsize=1)(lambda row: model @ model[row])
        return lambda item: cosines(int(rows[item]))

    def changed(self, name: str, column: str, groups: NDArray[np.str_], change: Callable[[Values], Values]) -> Quantity:
        """A function of measurements."""
        parts = [
            Trainings(change(masked(one, column)), None, int(one["resamples"]), int(one["seeds"]))
            for one in self.repetitions
        ]
        return Quantity(name, groups, parts, [change(masked(self.drawn, column))] * len(parts))


def load_matrix(path: Path) -> Matrix:
    """The vectors in a file."""
    return np.asarray(np.load(path)["matrix"], np.float32)


def stacked(measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The measures of several models as arrays."""
    return {name: np.stack([one[name] for one in measured]) for name in measured[0]}


def masked(measured: dict[str, Any], column: str) -> Values:
    """Measures as float64, NaN where a word does not occur, so that the cosine is exactly 0."""
    cosines = measured[column.replace("_ranks", "_cosines")]
    return np.where(cosines == 0, np.nan, measured[column]).astype(np.float64)


def coverage_rows(quantity: Quantity) -> Iterator[dict[str, Any]]:
    """The coverage of the intervals of a quantity, by group; and over all groups, by method."""
    for method in quantity.methods:
        numbers = range(len(quantity.repetitions))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of items without values, which are NaN
            results = [one for number in numbers if (one := measure_repetition(quantity, number, method)) is not None]
        groups = dict.fromkeys([ALL, *(quantity.groups.tolist() if method == CHOSEN else [])])
        for group in groups if results else ():
            chosen = (quantity.groups == group) | (group == ALL)
            yield {"quantity": quantity.name, "group": group, "method": method, **summary(results, chosen)}


def measure_repetition(quantity: Quantity, number: int, method: str) -> dict[str, Values] | None:
    """Whether intervals contain the expected value, how many draws they contain, and spreads, each (items,)."""
    one, draws = quantity.repetitions[number], quantity.draws[number]
    low, high = np.array([quantity.bounds(number, item, method) for item in range(one.values.shape[1])]).T
    if not np.isfinite(low).any():
        return None
    center = np.nanmedian(draws, axis=0) if quantity.is_rank else np.nanmean(draws, axis=0)
    inside = np.where(np.isfinite(draws), (draws >= low) & (draws <= high), np.nan)
    values = one.ranks if quantity.is_rank and one.ranks is not None else one.values
    spread = np.log if quantity.is_rank else np.asarray
    total, seed = (np.nanvar(spread(values[one.part(kind)]), axis=0, ddof=1) for kind in ("resamples", "seeds"))
    return {
        "contains": np.where(np.isfinite(low) & np.isfinite(center), (low <= center) & (center <= high), np.nan),
        "contains_draw": np.nanmean(inside, axis=0), "width": high / low if quantity.is_rank else high - low,
        "total": total, "actual": np.nanvar(spread(draws), axis=0, ddof=1), "seed": seed,
    }  # fmt: skip


def summary(results: Sequence[dict[str, Values]], chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """The mean over repetitions and items; `error` is the standard error of the coverage between repetitions."""
    by_repetition = [np.nanmean(one["contains"][chosen]) for one in results]
    mean = {name: np.nanmean([np.nanmean(one[name][chosen]) for one in results]) for name in results[0]}
    number = sum(int(np.isfinite(one["contains"][chosen]).sum()) for one in results)
    error = np.std(by_repetition, ddof=1) / np.sqrt(len(results)) if len(results) > 1 else np.nan
    width = np.nanmedian(np.concatenate([one["width"][chosen] for one in results]))
    values = {
        "coverage": np.mean(by_repetition), "error": error, "coverage_draw": mean["contains_draw"], "width": width,
        "sd_ratio": np.sqrt(mean["total"] / mean["actual"]),
        "data_sd": np.sqrt(max(mean["total"] - mean["seed"], 0)), "seed_sd": np.sqrt(mean["seed"]),
    }  # fmt: skip
    return {"intervals": number, **{name: round(float(value), 4) for name, value in values.items()}}


def coverage_markdown(rows: Sequence[dict[str, Any]], sizes: dict[str, tuple[int, int]]) -> str:
    """The coverage by group and by method, and spreads by document and seed."""
    first: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        first.setdefault((row["quantity"], row["group"], row["method"], row["population"]), row)
    groups = dict.fromkeys(key[:2] for key in first if key[2] == CHOSEN)
    methods = dict.fromkeys((key[0], key[2]) for key in first if key[1] == ALL)
    heads, lines = ["quantity", "words or pairs"], []
    for name in sizes:
        heads += [f"{name}: intervals", "95 % contain", "width"]
    for key in groups:
        found = [first.get((*key, CHOSEN, name)) for name in sizes]
        cells = [[f"{one['intervals']:,}", percent(one), f"{one['width']:.3g}"] if one else [""] * 3 for one in found]
        lines.append([*key, *chain.from_iterable(cells)])
    by_group = markdown(heads, lines, names=2)
    lines = [
        [name, method, *(percent(first.get((name, ALL, method, one))) for one in sizes)] for name, method in methods
    ]
    by_method = markdown(["quantity", "method", *sizes], lines, names=2)
    heads = ["corpus", "quantity", "words", "by documents", "by seed", "resamples / draws"]
    spreads = [
        [row["population"], row["quantity"], row["group"], f"{row['data_sd']:.3f}", f"{row['seed_sd']:.3f}",
         f"{row['sd_ratio']:.2f}"]
        for row in first.values()
        if row["method"] == CHOSEN and row["quantity"] in ("cosine", "rank") and "cosine" not in row["group"]
    ]  # fmt: skip
    notes = [f"- {name}: {one} repetitions, {other} independent draws.\n" for name, (one, other) in sizes.items()]
    return (
        f"{by_group}\nMethods that were compared, over all words:\n\n{by_method}\n"
        f"Standard deviations of cosines and of ranks (of their logarithms):\n\n{markdown(heads, spreads, names=3)}\n"
    ) + "".join(notes)


def percent(row: dict[str, Any] | None) -> str:
    """The coverage with its standard error; empty for no row."""
    if row is None:
        return ""
    error = f" ± {100 * row['error']:.1f}" if np.isfinite(row["error"]) else ""
    return f"{100 * row['coverage']:.1f}{error}"

"""Compares substitutes for words without a vector: on rare words, and on words that are hidden on purpose.

python tools/unseen_word_study.py run RESULTS.tsv --corpus NAME=FILE... --similarity SET... [--seed N...]
    [--common KEY=VALUE,...] [--share SHARE] [--rows N]
python tools/unseen_word_study.py table RESULTS.tsv

For each corpus and seed, `run` draws a share of the words of the sets that occur 32 times or more, removes them from
the text and trains models on the rest. It appends the scores to RESULTS.tsv, skips what this holds, and writes the
tables of `table` next to it. `--common` has settings of all models, `--rows` is the number of hashed rows.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
from hidden_words import HIDDEN, KNOWN, MAX_CONTEXTS, RARE, HiddenWords, Substitute
from study_rows import append_rows, read_rows

import embeddings as em
from embeddings.analysis.induced_vectors import ContextMap, ContextReader, mean_map
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.indexes.index_spec import parse_spec
from embeddings.support.suggestions import close_matches

COLUMNS = ("corpus", "seed", "method", "contexts", "group", "set", "pairs", "spearman")
CONTEXTS = (1, 2, 4, 8, 16, MAX_CONTEXTS)
EVERY = "all"  # occurrences as contexts; the number of contexts of methods that do not use them
INDUCTION = {  # the weights of contexts and the ridge of the map; None for means
    "mean of contexts": ("equal", None),
    "mean of contexts, SIF weights": ("sif", None),
    "à la carte": ("equal", 0.0),
    "à la carte, SIF weights": ("sif", 0.0),
    "à la carte, ridge 0.01": ("equal", 0.01),
    "à la carte, SIF weights, ridge 0.01": ("sif", 0.01),
}
UNK, ROWS, NGRAMS, SPELLING = "learned `<unk>`", "hashed rows", "n-grams of fastText", "most similar spelling"
PLAIN, FULL = "skipgram", "skipgram on the full text"
FRACTION = 0.3
GROUPS = {HIDDEN: "Pairs with a hidden word", RARE: "Pairs with one rare word", KNOWN: "Pairs of known words"}
Row = tuple[str, str, str, str, int, float]  # method, contexts, group, set, pairs, correlation


def run(path: Path, arguments: argparse.Namespace) -> None:
    """Measure what the file does not hold yet; the rows of a corpus and seed are appended at once."""
    done = {(row["corpus"], row["seed"]) for row in read_rows(path)} if path.exists() else set()
    for seed, corpus in product(arguments.seed, arguments.corpus):
        name, _, file = corpus.partition("=")
        if (name, str(seed)) not in done:
            rows = [[name, str(seed), *map(str, row[:-1]), f"{row[-1]:.4f}"] for row in study(file, seed, arguments)]
            append_rows(path, COLUMNS, rows)
    path.with_suffix(".md").write_text(table(path), encoding="utf-8")


def study(file: str, seed: int, arguments: argparse.Namespace) -> Iterator[Row]:
    """Hide words of a corpus, train models on the rest, and score all substitutes."""
    _, settings = parse_spec(f"skipgram:{arguments.common}", group="trainer")
    random = np.random.default_rng(seed)
    encoded, sets = em.Corpus(file).encode(), [read_word_pairs(one) for one in arguments.similarity]
    min_count = settings.setdefault("min_count", 5)
    words = HiddenWords.draw(encoded, sets, arguments.share, min_count, random)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "rest.txt"
        words.write_rest(text)
        rest = em.Corpus(text, tokenizer="whitespace", case="keep")

        def train(trainer: str = "skipgram", corpus: em.Corpus = rest, **others: int) -> em.Vectors:
            return em.train(trainer, corpus, seed=seed, **settings, **others).vectors

        full, plain = train(corpus=em.Corpus(file)), train()
        unknown = {UNK: train(unknown_rows=1), ROWS: train(unknown_rows=arguments.rows)}
        ngrams = train("fasttext")
    for method, vectors in {PLAIN: plain, **unknown, NGRAMS: ngrams}.items():
        yield from scored(method, EVERY, KNOWN, words, vectors, plain.compose_words)
    yield from scored(FULL, EVERY, HIDDEN, words, full, lambda hidden: full[hidden])
    for group in (HIDDEN, RARE):
        for method, vectors in unknown.items():
            yield from scored(method, EVERY, group, words, vectors, vectors.learned_unknown)
        yield from scored(NGRAMS, EVERY, group, words, ngrams, ngrams.compose_words)
        yield from scored(SPELLING, EVERY, group, words, plain, spelling_of(plain))
    yield from induced(words, plain, settings.get("window", 5), random)


def induced(words: HiddenWords, vectors: em.Vectors, window: int, random: np.random.Generator) -> Iterator[Row]:
    """The scores of vectors from contexts: of hidden words by the number of contexts, of rare words from all."""
    occurrences = words.occurrences(words.hidden, random)
    for method, (weights, ridge) in INDUCTION.items():
        if ridge is None:
            context_map = mean_map(vectors, words.encoded, window, weights)
        else:
            fit = {"window": window, "context_weights": weights, "ridge": ridge}
            context_map = em.fit_context_map(vectors, words.encoded, **fit)
        inducer = em.ContextInducer(vectors, words.encoded, context_map)
        yield from scored(method, EVERY, RARE, words, vectors, inducer)
        for number in CONTEXTS:
            substitute = sampled(inducer.reader, context_map, [places[:number] for places in occurrences])
            yield from scored(method, str(number), HIDDEN, words, vectors, substitute)


def sampled(reader: ContextReader, context_map: ContextMap, positions: Sequence[np.ndarray]) -> Substitute:
    """The vectors of words from their occurrences at these positions."""
    slots = np.repeat(np.arange(len(positions), dtype=np.int32), [len(one) for one in positions])
    places = np.concatenate(positions)
    order = np.argsort(places)
    sums = reader.new_sums(len(positions))
    reader.add(places[order], slots[order], 1, sums)
    rows = context_map.apply(sums.means().means)
    return lambda words: rows


def spelling_of(vectors: em.Vectors) -> Substitute:
    """The vector of the word with the most similar spelling; without one, the mean of rare words."""

    def substitute(words: list[str]) -> np.ndarray:
        rows = em.lookup(vectors, words, "unknown")
        for row, word in enumerate(words):
            if matches := close_matches(word, vectors.word_list, 1):
                rows[row] = vectors[matches[0]]
        return rows

    return substitute


def scored(
    method: str, contexts: str, group: str, words: HiddenWords, vectors: em.Vectors, substitute: Substitute
) -> Iterator[Row]:
    """The scores of a substitute on each set."""
    for name, pairs, value in words.scores(group, vectors, substitute):
        yield method, contexts, group, name, pairs, value


def table(path: Path) -> str:
    """The tables of all corpora: correlations in percent, means over seeds, ± half the range; hidden: over sets."""
    rows, parts = read_rows(path), []
    for corpus, (group, title) in product(dict.fromkeys(row["corpus"] for row in rows), GROUPS.items()):
        part = [row for row in rows if (row["corpus"], row["group"]) == (corpus, group)]
        if part:
            heads = {str(one): f"{one} contexts" if one > 1 else "1 context" for one in CONTEXTS} | {EVERY: "others"}
            axis = "contexts" if group == HIDDEN else "set"
            heads = heads if group == HIDDEN else {row["set"]: row["set"] for row in part}
            parts.append(f"{title}, {corpus} ({number_of_pairs(part)}):\n\n{markdown(part, axis, heads)}")
    return "\n".join(parts)


def number_of_pairs(rows: list[dict[str, str]]) -> str:
    """The numbers of pairs of each set, means over the seeds."""
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        numbers[row["set"]][row["seed"]] = int(row["pairs"])
    seeds = len({row["seed"] for row in rows})
    pairs = ", ".join(f"{fmean(by_seed.values()):.0f} of {name}" for name, by_seed in numbers.items())
    return f"{seeds} seed{'s' * (seeds > 1)}; pairs: {pairs}"


def markdown(rows: list[dict[str, str]], axis: str, heads: dict[str, str]) -> str:
    """A table with a line for each method and a column for each number of contexts or set; best methods first."""
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values[row["method"], row[axis]][row["seed"]].append(100 * float(row["spearman"]))
    means = {key: [fmean(scores) for scores in seeds.values()] for key, seeds in values.items()}
    combine: Callable[[list[float]], float] = max if axis == "contexts" else fmean
    best = {method: combine(means_of(means, method)) for method, _ in means}
    lines = [["substitute", *heads.values()], ["---", *["---:"] * len(heads)]]
    lines += [
        [one, *(cell(means.get((one, column))) for column in heads)] for one in sorted(best, key=lambda m: -best[m])
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def means_of(means: dict[tuple[str, str], list[float]], method: str) -> list[float]:
    """The means over seeds of all columns of a method."""
    return [fmean(seeds) for (one, _), seeds in means.items() if one == method]


def cell(seeds: list[float] | None) -> str:
    """A mean over seeds with half their range; empty without values."""
    if seeds is None:
        return ""
    spread = f" ± {(max(seeds) - min(seeds)) / 2:.1f}" if len(seeds) > 1 else ""
    return f"{round(fmean(seeds), 1) + 0.0:.1f}{spread}"  # without a minus before 0.0


def main(arguments: Sequence[str]) -> None:
    """Run the study, or write its tables to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("results", type=Path)
    for name in ("corpus", "similarity"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--seed", action="append", type=int, default=[])
    parser.add_argument("--common", default="epochs=5", help="settings of all models")
    parser.add_argument("--share", type=float, default=FRACTION, help="of words to hide")
    parser.add_argument("--rows", type=int, default=1000, help="hashed rows")
    options = parser.parse_args(arguments)
    if options.command == "table":
        sys.stdout.write(table(options.results))
    else:
        run(options.results, options)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Words whose use differs between two groups of documents, such as two periods, with a permutation test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.keyword_in_context import ConcordanceLine, ConcordanceLines, concordance_lines
from embeddings.analysis.occurrences import Occurrences
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.documents import first_documents, unit_starts
from embeddings.corpora.encoded_corpus import EncodedCorpus, as_encoded
from embeddings.corpora.resampling import MIN_UNITS, write_selection
from embeddings.errors import CorpusError, S, SettingError
from embeddings.settings import Positive, Range, check_arguments, check_value
from embeddings.support.docstrings import argument_texts
from embeddings.support.dots import Dot
from embeddings.support.imports import import_library
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.result_table import PlottedTable, ResultTable, TabularResult
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import check_threads_and_seed, prepare
from embeddings.vectors.align import align
from embeddings.vectors.vectors import Vectors

Unit = Literal["blocks", "lines", "files"]
MAX_LENGTH_RATIO = 10  # of the median documents of the groups; above it, they may be divided differently


@dataclass(frozen=True)
class DocumentGroups:
    """Two groups of the documents of a corpus.

    groups: (documents,) 0 for the first group, 1 for the second, -1 for documents to leave out.
    borders: (documents + 1,) the lines of the corpus at which documents begin, and their number.

    Raises:
        SettingError: the groups are not of this form.
        CorpusError: a group has too few documents.
    """

    encoded: EncodedCorpus
    groups: NDArray[np.int64]
    borders: NDArray[np.int64]

    def __post_init__(self) -> None:
        groups, documents = self.groups, len(self.borders) - 1
        if groups.shape != (documents,) or not np.isin(groups, (-1, 0, 1)).all():
            expected = f"two tags, or 0, 1 or -1 for each of {documents:,} documents"
            raise SettingError(f"groups must be {expected}, got shape {groups.shape}")
        for group in (0, 1):
            count = int(np.sum((groups == group) & (self.tokens > 0)))
            if count < MIN_UNITS:
                message = f"group {group + 1} has too few documents: {count}, at least {MIN_UNITS} are required"
                raise CorpusError(f"{message}; documents='lines' (--documents lines) makes each line a document")
        medians = [np.median(self.tokens[(groups == group) & (self.tokens > 0)]) for group in (0, 1)]
        if max(medians) > MAX_LENGTH_RATIO * min(medians):
            log.warning(
                "a document has %.0f words in the first group and %.0f in the second (medians), so the groups may be "
                "divided into documents differently; documents='lines' (--documents lines) makes each line a document",
                *medians,
            )

    @classmethod
    def of(cls, encoded: EncodedCorpus, groups: NDArray[np.int64], unit: Unit) -> "DocumentGroups":
        """Build the groups of documents of this unit; empty lines are left out."""
        borders = unit_starts(encoded, unit)
        is_empty = np.diff(np.asarray(encoded.sentences)[borders]) == 0
        is_left_out = is_empty if unit == "lines" and groups.shape == is_empty.shape else False
        return cls(encoded, np.where(is_left_out, -1, groups), borders)

    @property
    def tokens(self) -> NDArray[np.int64]:
        """The number of tokens of each document, (documents,)."""
        return np.diff(np.asarray(self.encoded.sentences)[self.borders])

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The occurrences of each word of the corpus in each group, (2, types)."""
        group_of_token, size = np.repeat(self.groups, self.tokens), len(self.encoded.vocabulary)
        ids = (self.encoded.ids[group_of_token == group] for group in (0, 1))
        return np.stack([np.bincount(part, minlength=size)[:size] for part in ids])

    def divisions(self, permutations: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The documents of both groups: as they are, then divided at random into groups with as many words.

        Vectors of fewer words vary more, so that groups with as many documents would not do where those of one group
        are longer.
        """
        yield np.flatnonzero(self.groups == 0), np.flatnonzero(self.groups == 1)
        members = np.flatnonzero(self.groups >= 0)
        sizes, random = self.tokens[members], np.random.default_rng(seed)
        first_size = int(sizes[self.groups[members] == 0].sum())
        for _ in range(permutations):
            order = random.permutation(len(members))
            end = int(np.searchsorted(np.cumsum(sizes[order]), first_size, side="right"))
            end = min(max(end, 1), len(members) - 1)
            yield np.sort(members[order[:end]]), np.sort(members[order[end:]])


def train_on(
    groups: DocumentGroups, documents: NDArray[np.int64], trainer: Trainer, threads: int, seed: int
) -> Vectors:
    """Vectors of length 1 that are trained on some documents."""
    with new_folder(corpora_folder()) as folder:
        part = write_selection(groups.encoded, groups.borders, documents, folder)
    with part:
        return trainer.learn(prepare(trainer, part, threads=threads, seed=seed)).vectors.normalize()


def compared_rows(vectors: Vectors, counts: NDArray[np.int64], occurrences: int) -> NDArray[np.int64]:
    """The rows of the words that are frequent enough in both groups; the vocabulary is sorted as the counts are."""
    rows = np.flatnonzero(counts[:, : len(vectors)].min(axis=0) >= occurrences)
    if len(rows) < vectors.dim:
        raise CorpusError(
            f"{len(rows)} words occur {occurrences} times in both groups, too few to compare {vectors.dim} dimensions: "
            f"lower {S.occurrences} or {S.dim}, or compare larger groups"
        )
    return rows


def distances(pair: list[Vectors], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - cosine of each word's two vectors, after the first space is rotated onto the second, (rows,).

    The mean vector, a direction that all words share, would hide differences and is subtracted first.
    """
    # numbers in place of words: `align` pairs rows by name, and these rows are paired already
    words, matrices = [str(row) for row in rows], (vectors.matrix[rows] for vectors in pair)
    first, second = (Vectors(words, matrix - matrix.mean(axis=0)).normalize() for matrix in matrices)
    aligned = align(first, onto=second).vectors.matrix
    return np.asarray(1 - np.einsum("ij,ij->i", aligned, second.matrix, dtype=np.float64))


DEFAULT_PERMUTATIONS, DEFAULT_OCCURRENCES, DEFAULT_FDR = 20, 20, 0.05
N_NEIGHBOURS, LINE_WIDTH = 5, 40  # of each changed word; characters on each side of it


@dataclass(frozen=True)
class ChangedWord:
    """A word and the evidence for a change of its use.

    Arguments:
        word: the word.
        change: 1 - cosine of its aligned vectors.
        expected: the mean change where documents are divided at random.
        z: how many standard deviations the change is above that.
        p: the share of random changes with such a z.
        q: the rate of false discoveries if this word and all above it are called changed.
        counts: its occurrences in each group.
        neighbours: its nearest neighbours in each group.
        lines: occurrences in the first group, then in the second.
    """

    word: str
    change: float
    expected: float
    z: float
    p: float
    q: float
    counts: tuple[int, int]
    neighbours: tuple[list[str], list[str]]
    lines: tuple[ConcordanceLine, ...]


RANDOM = "in random divisions: mean ± 2 standard deviations"


class ChangedWords(PlottedTable[ChangedWord]):
    """Words from the surest change on, without their lines; the table shows the first ones."""

    top = 20

    columns = argument_texts(ChangedWord) | {
        f"{column}_{group}": argument_texts(ChangedWord)[name].replace("each group", f"group {group}")
        for column, name in (("count", "counts"), ("neighbours", "neighbours"))
        for group in (1, 2)
    }

    def visible(self) -> list[ChangedWord]:
        """The first words."""
        return self[: self.top]

    def record(self, row: ChangedWord) -> dict[str, Any]:
        """The figures of a word and its neighbours in both groups."""
        figures = {name: getattr(row, name) for name in ("word", "change", "expected", "z", "p", "q")}
        counts = {f"count_{group}": count for group, count in enumerate(row.counts, 1)}
        return figures | counts | {f"neighbours_{group}": words for group, words in enumerate(row.neighbours, 1)}

    def dots(self) -> list[Dot]:
        """The words at their changes, and at those by chance with two standard deviations on both sides."""
        dots, axis = list[Dot](), "change (1 - cosine)"
        for one in self.visible():
            spread = 2 * (one.change - one.expected) / one.z if one.z else 0.0
            dots += [
                Dot(one.word, axis, one.change, remark=f"q = {one.q:.2g}", series="between the groups"),
                Dot(one.word, axis, one.expected, one.expected - spread, one.expected + spread, series=RANDOM),
            ]
        return dots


@dataclass(frozen=True, repr=False)
class UsageChange(TabularResult):
    """The result of `compare_usage`.

    Arguments:
        words: all words that were compared, from the surest change on.
        n_words: their number.
        n_changed: how many have q of at most the requested rate.
        documents: their number in each group.
        top: how many words are shown, and have lines.
    """

    words: list[ChangedWord]
    n_words: int
    n_changed: int
    documents: tuple[int, int]
    top: int = 20

    @property
    def table(self) -> ChangedWords:
        """The words, which draw themselves: `result.table.plot()`."""
        note = f"{self.n_words:,} words compared in {self.documents[0]:,} and {self.documents[1]:,} documents"
        changed = f"{self.n_changed:,} changed by q, which is corrected for the number of words"
        words = ChangedWords(self.words, notes=[f"{note}; {changed}"])
        words.top = self.top
        return words

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """The words, and lines of the corpus."""
        return [self.table, ConcordanceLines(line for one in self.words for line in one.lines)]


def compare_usage(
    corpus: Corpus, groups: NDArray[np.int64] | tuple[str, str], trainer: Trainer, *,
    permutations: Annotated[int, Range(ge=4)] = DEFAULT_PERMUTATIONS,
    occurrences: Positive = DEFAULT_OCCURRENCES, fdr: float = DEFAULT_FDR, top: Positive = 20,
    lines: Annotated[int, Range(ge=0)] = 0, documents: Unit = "blocks",
    seed: int = 1, threads: int | None = None, progress: ProgressOption = None,
) -> UsageChange:  # fmt: skip
    """Find words whose use differs between two groups of documents.

    A model is trained on each group, and one is rotated onto the other (Hamilton, Leskovec and Jurafsky 2016,
    "Diachronic Word Embeddings Reveal Statistical Laws of Semantic Change"). The change of a word, 1 - cosine, is
    compared with its changes when the documents are divided at random into groups of the same sizes (Dubossarsky,
    Weinshall and Grossman 2017, "Outta Control", ask for such a control). The deviations of all words and random
    divisions together give p-values; false discoveries are controlled by Benjamini and Hochberg's procedure.

    Arguments:
        corpus: all documents.
        groups: (documents,) 0 for the first group, 1 for the second, -1 for documents to leave out; or the tags of the
            documents of both groups.
        documents: what is divided at random: "lines", "files" of plain text, or "blocks": rows of tables, items of
            iterables and, in plain text, lines between blank lines. A warning is logged if those of one group are ten
            times as long.
        trainer: the model to train, such as `em.SkipGram(dim=50)`.
        permutations: the number of random divisions of the documents, at least 4. Each takes as long as a training on
            all documents.
        occurrences: compare the words that occur at least N times in each group, and no others.
        fdr: the rate of false discoveries among the words that are reported as changed.
        top: the number of words to show, with the largest deviations first.
        lines: the number of lines of the corpus to report for each word and group.
        seed: with one thread, results are bit-reproducible.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of divisions done, and the total.

    Raises:
        SettingError: an argument is out of range, or the model is not trained on words alone.
        CorpusError: a group has too few documents, no document has a tag, or no word is frequent enough; or as
            `Corpus.encode`.
    """
    check_arguments(compare_usage, permutations=permutations, occurrences=occurrences, top=top, lines=lines)
    check_value("fdr", fdr, float, {"gt": 0, "le": 0.5})
    check_value("documents", documents, Unit, {})
    if not trainer.reads_words_alone():
        raise SettingError(f"{trainer.trainer_name} is not trained on words alone")
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    encoded, members = as_encoded(corpus), np.asarray(groups)
    if members.dtype.kind == "U":
        members = tag_groups(encoded, members.tolist())[first_documents(encoded, documents)]
    divided = DocumentGroups.of(encoded, members, documents)
    with showing(progress, "training", "divisions") as shown:
        pair: list[Vectors] = []
        by_division: list[NDArray[np.float64]] = []  # 1 - cosine of aligned vectors (words,), first of the two groups
        for division in divided.divisions(permutations, seed):
            vectors = [train_on(divided, part, trainer, threads, seed) for part in division]
            # the first division is that into the two groups, whose vectors are reported
            pair = pair or vectors
            rows = compared_rows(pair[0], divided.counts, occurrences)
            by_division.append(distances(vectors, rows))
            if shown is not None:
                shown(len(by_division), permutations + 1)
    changes = np.stack(by_division)
    tested = compare_changes(changes)
    names = [pair[0].words[row] for row in rows[tested.order]]
    nearest = zip(*(one.most_similar_many(names, top=N_NEIGHBOURS) for one in pair), strict=True)
    words: list[ChangedWord] = []
    for i, word, near in zip(tested.order.tolist(), names, nearest, strict=True):
        counts, neighbours = divided.counts[:, rows[i]].tolist(), [[name for name, _ in one] for one in near]
        words.append(ChangedWord(
            word=word, change=float(changes[0, i]), expected=float(tested.expected[i]), z=float(tested.z[i]),
            p=float(tested.p[i]), q=float(tested.q[i]), counts=(counts[0], counts[1]),
            neighbours=(neighbours[0], neighbours[1]),
            lines=tuple(group_lines(corpus, divided, word, lines)) if len(words) < top else (),
        ))  # fmt: skip
    sizes = int(np.sum(divided.groups == 0)), int(np.sum(divided.groups == 1))
    return UsageChange(words, len(rows), int(np.sum(tested.q <= fdr)), sizes, top)


def tag_groups(encoded: EncodedCorpus, tags: Sequence[str]) -> NDArray[np.int64]:
    """The group of each document: 0 and 1 for the two tags, -1 for others."""
    of_documents = [] if encoded.tags is None else encoded.single_tags.to_pylist()
    known = set(filter(None, of_documents))
    for tag in tags:
        if tag not in known:
            others = f"there are {', '.join(sorted(known)[:10])}" if known else "no document has a tag"
            raise CorpusError(f"no document has the tag {tag!r}: {others}")
    groups = {tag: group for group, tag in enumerate(tags)}
    return np.array([groups.get(tag, -1) for tag in of_documents], np.int64)


class ChangeTest(NamedTuple):
    """Whether the change of each word is larger than by chance; see `ChangedWord` for the arrays (words,)."""

    expected: NDArray[np.float64]
    z: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]

    @property
    def order(self) -> NDArray[np.int64]:
        """The words from the surest change on, (words,)."""
        return np.lexsort((-self.z, self.q))


def compare_changes(changes: NDArray[np.float64]) -> ChangeTest:
    """Compare observed changes, in the first row, with changes of random divisions, (1 + permutations, words).

    Each random change is compared with the other random ones in the same way, and the p-value is the share of these
    deviations, of all words, that are as large. The standard deviation is increased by its median over words, so that
    words with a small one by chance do not stand out (Tusher, Tibshirani and Chu 2001, "Significance analysis of
    microarrays").
    """
    false_discovery_control = import_library("scipy.stats").false_discovery_control

    observed, null = changes[0], changes[1:]
    offset = float(np.median(null.std(axis=0, ddof=1)))
    z = deviation(observed, null, offset)
    others = [np.delete(null, i, axis=0) for i in range(len(null))]
    null_z = np.sort(np.concatenate([deviation(one, rest, offset) for one, rest in zip(null, others, strict=True)]))
    p = (len(null_z) - np.searchsorted(null_z, z, side="left") + 1) / (len(null_z) + 1)
    rates = np.asarray(false_discovery_control(p))  # Benjamini and Hochberg 1995
    return ChangeTest(null.mean(axis=0), z, p, rates)


def deviation(values: NDArray[np.float64], others: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """How many standard deviations values (words,) are above the mean of others (n, words)."""
    return np.asarray((values - others.mean(axis=0)) / (others.std(axis=0, ddof=1) + max(offset, 1e-12)))


def group_lines(corpus: Corpus, divided: DocumentGroups, word: str, lines: int) -> list[ConcordanceLine]:
    """Lines around a word in each group."""
    if not lines:
        return []
    everywhere = Occurrences.of(divided.encoded, word)
    groups = divided.groups[np.searchsorted(divided.borders, everywhere.sentences, side="right") - 1]
    parts = (replace(everywhere, positions=everywhere.positions[groups == group]) for group in (0, 1))
    return [line for part in parts for line in concordance_lines(part, lines, LINE_WIDTH, corpus=corpus)]

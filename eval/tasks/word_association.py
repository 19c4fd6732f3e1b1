"""Word Embedding Association Tests (Caliskan et al., 2017): whether two lists of words differ in their associations."""

import csv
import os
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from embeddings.errors import FormatError
from embeddings.eval.statistics.confidence_intervals import MIN_ITEMS, NO_INTERVAL
from embeddings.eval.statistics.results import WORDS, ItemScores, Key, Measurement, ResampledScores
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.eval.test_sets import check_found, line_error, locate, read_lines, set_name
from embeddings.support.cosine import normalize

COLUMNS = ("test", "list", "word", "role")
ALIASES = {"study": "test", "condition": "list"}  # headings of published files
ROLES = ("target", "attribute")
MIN_WORDS, MIN_COUNT = 8, 100  # below which a note warns
MIN_SPREAD = 1e-6  # of associations; less is rounding
EXACT, SAMPLES = 100_000, 100_000  # divisions: the largest number that is listed, and the number of random ones
SEED = 1


@dataclass(frozen=True)
class AssociationTests:
    """The tests of a file by name, each with two lists of target words and two of attribute words, by name."""

    name: str
    tests: dict[str, dict[str, dict[str, list[str]]]]


def read_association_tests(path: str | os.PathLike[str]) -> AssociationTests:
    """A table separated by tabs or commas: test, list, word, and role, which is "target" or "attribute".

    Raises:
        FormatError: the file cannot be read, a column is missing, or there is no test.
    """
    file = locate(path)
    lines = list(read_lines(file))
    delimiter = "\t" if lines and "\t" in lines[0][1] else ","
    rows = csv.reader([line for _, line in lines], delimiter=delimiter)
    heading = [ALIASES.get(name.strip().lower(), name.strip().lower()) for name in next(rows, [])]
    if missing := [name for name in COLUMNS if name not in heading]:
        raise FormatError(f"{file}: no column {missing[0]}; expected {', '.join(COLUMNS)}")
    # published files have the columns in other orders
    columns = [heading.index(name) for name in COLUMNS]
    tests: dict[str, dict[str, dict[str, list[str]]]] = {}
    for (number, line), fields in zip(lines[1:], rows, strict=False):
        test, name, word, role = (fields[column].strip() if column < len(fields) else "" for column in columns)
        if role.lower() not in ROLES or not word:
            raise line_error(file, number, "test, list, word, and the role target or attribute", line)
        lists = tests.setdefault(test, {role: {} for role in ROLES})[role.lower()]
        lists.setdefault(name, []).append(word)
    check_found(tests, file, "tests, only a heading")
    return AssociationTests(set_name(path), tests)


@dataclass(frozen=True, kw_only=True)
class EffectSize(ResampledScores):
    """How much more the first targets are associated with the first attributes, in standard deviations.

    `associations` (words,) are of all target words, `is_first` (words,) bool those of the first list.
    """

    associations: np.ndarray
    is_first: np.ndarray
    limits: ClassVar = (-np.inf, np.inf)
    test: str = WORDS

    @property
    def counted(self) -> np.ndarray:
        """The target words with a vector, (words,) bool."""
        return self.covered

    @property
    def size(self) -> int:
        """The number of target words."""
        return len(self.covered)

    def score(self, weights: np.ndarray) -> np.ndarray:
        """The effect size in each resample (resamples,); NaN where a list is empty or all associations are equal."""
        weights = weights * self.covered
        first, second, total = weights * self.is_first, weights * ~self.is_first, weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = [part @ self.associations / part.sum(axis=1) for part in (first, second)]
            mean = weights @ self.associations / total
            squares = (weights * (self.associations - mean[:, None]) ** 2).sum(axis=1)
            return np.asarray((means[0] - means[1]) / np.sqrt(squares / (total - 1)))


PROTOCOL = (
    "(mean association of {0} minus that of {1}) / standard deviation over both; association: mean cosine with {2} "
    "minus that with {3}; case is ignored if no word has the spelling; words without a vector are left out; interval: "
    "bootstrap over target words"
)
PERMUTATION = (
    "the share of divisions of the target words into lists of the same sizes with a difference at least as large; "
)


def score_association(subject: Subject, tests: AssociationTests) -> list[ItemScores]:
    """The effect size of each test, and its one-sided permutation p; of a test of another shape the reason."""
    scores: list[ItemScores] = []
    for test, roles in tests.tests.items():
        wrong = [f"requires two lists of {one} words, got {len(roles[one])}" for one in ROLES if len(roles[one]) != 2]
        if wrong:
            scores.append(Measurement(
                vectors=subject.name, key=Key(tests.name, "effect size", section=test), value=None, reason=wrong[0],
                covered=0, total=0, interval=NO_INTERVAL, protocol=PROTOCOL.format("X", "Y", "A", "B"),
            ))  # fmt: skip
            continue
        (first, second), (one, other) = (list(roles[role].values()) for role in ROLES)
        targets = find_rows(subject, first + second)
        attributes = [rows[rows >= 0] for rows in (find_rows(subject, one), find_rows(subject, other))]
        units = subject.vectors.unit_rows
        covered, is_first = targets >= 0, np.arange(len(targets)) < len(first)
        sides = [int((covered & side).sum()) for side in (is_first, ~is_first)]
        associations, reason = np.zeros(len(targets)), None
        if min(*sides, *map(len, attributes)) < 2:
            reason = "a list has fewer than two words with vectors"
        else:
            means = [normalize(units[rows]).mean(axis=0) for rows in attributes]
            associations[covered] = normalize(units[targets[covered]]) @ (means[0] - means[1])
            if np.ptp(associations[covered]) < MIN_SPREAD:
                reason = "all target words have the same association with the attributes"
        protocol = PROTOCOL.format(*(name for role in ROLES for name in roles[role]))
        effect = EffectSize(
            vectors=subject.name, key=Key(tests.name, "effect size", section=test), covered=covered, reason=reason,
            associations=associations, is_first=is_first, protocol=protocol,
            note=warning(subject, test, [targets[is_first], targets[~is_first], *attributes]),
        )  # fmt: skip
        p = None if reason else permutation_p(associations[covered], sides[0])
        scores += [effect, Measurement(
            vectors=subject.name, key=Key(tests.name, "permutation p", section=test), value=p, reason=reason,
            covered=int(covered.sum()), total=len(covered), interval=NO_INTERVAL, protocol=PERMUTATION + protocol,
        )]  # fmt: skip
    return scores


def find_rows(subject: Subject, words: list[str]) -> np.ndarray:
    """The row of each word (words,), by spelling or else whatever its case; -1 without a vector."""
    exact = [subject.vectors.word_list.find(word) for word in words]
    folded = subject.folding.find(words)
    return np.array([other if row is None else row for row, other in zip(exact, folded, strict=True)], np.int64)


def warning(subject: Subject, name: str, lists: list[np.ndarray]) -> str | None:
    """A warning of short lists and rare words."""
    rows = np.concatenate(lists)
    shortest, counts = min(int((rows >= 0).sum()) for rows in lists), subject.vectors.counts
    notes = [f"a list of {name} has only {shortest} words with vectors"] * (shortest < MIN_WORDS)
    rare = 0 if counts is None else int((counts[rows[rows >= 0]] < MIN_COUNT).sum())
    notes += [f"{rare} words of {name} occur fewer than {MIN_COUNT} times"] * (rare > 0)
    if int((np.concatenate(lists[:2]) >= 0).sum()) < MIN_ITEMS:
        notes.append(f"there is no interval for fewer than {MIN_ITEMS} target words")
    return "; ".join(notes) or None


def permutation_p(associations: np.ndarray, size: int) -> float:
    """The share of divisions into `size` words and the others whose sum for the first is at least the observed one."""
    # the same words summed in another order round differently, and must count as at least the observed sum
    observed = associations[:size].sum() - 1e-12
    if comb(len(associations), size) <= EXACT:
        sums = np.array([sum(part) for part in combinations(associations.tolist(), size)])
        return float((sums >= observed).mean())
    rng = np.random.default_rng(SEED)
    orders = np.array([rng.permutation(len(associations))[:size] for _ in range(SAMPLES)])
    # the observed division is one of all, so that p is never 0
    return float(((associations[orders].sum(axis=1) >= observed).sum() + 1) / (SAMPLES + 1))


KIND = Kind(
    name="association",
    metavar="FILE...",
    read=lambda test, settings: read_association_tests(test),
    score=score_association,
)

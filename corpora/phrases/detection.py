"""Phrase detection: words that are adjacent more often than expected by chance; and the phrases of a `Corpus`.

Pairs of adjacent words are counted exactly, each encoded as one integer; memory holds only the frequent pairs.
"""

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.corpus_cache import corpora_folder, temporary_folder
from embeddings.corpora.encoded_corpus import Encodable, EncodedCorpus, as_encoded
from embeddings.corpora.key_counts import CHUNK, count_keys
from embeddings.corpora.phrases import pos_types
from embeddings.corpora.phrases.join import PhraseTokens, join_for_detection, join_phrases
from embeddings.corpora.phrases.phrase import MAX_PASSES, MAX_WORDS, Phrase, PhraseMode, PhraseSource, check_joiner
from embeddings.corpora.phrases.phrase_list import PhraseList, read_phrases
from embeddings.corpora.tokenizers import lower_case
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import CorpusError, S, SettingError
from embeddings.settings import Settings, check_value, option
from embeddings.support.text_lines import read_text_lines

# gensim's ENGLISH_CONNECTOR_WORDS: articles, conjunctions and prepositions
ENGLISH_CONNECTORS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "without"]
)
AUTO = "auto"
Floats = NDArray[np.float64]


def load_connectors(source: str | None) -> frozenset[str]:
    """Return the connectors: the words of a file, separated by white space, or for "english" ENGLISH_CONNECTORS."""
    if source is None:
        return frozenset()
    path = Path(source)
    if source == "english" and not path.is_file():
        return ENGLISH_CONNECTORS
    return frozenset(" ".join(read_text_lines(path, "list of connectors")).split())


MAX_CONNECTORS_IN_A_ROW = 4
BORDER = -1  # instead of a connector's number: no pair extends across such a word
POSITION, SENTENCE, FIRST, BETWEEN, N_BETWEEN = range(5)


class Pairs(NamedTuple):
    """Frequent pairs of words, as arrays (pairs,)."""

    first: NDArray[np.int64]  # ids
    second: NDArray[np.int64]
    between: NDArray[np.int64]  # 0 for none, else their numbers as digits from 1 to n in base n, the connectors
    counts: NDArray[np.int64]
    distinct: int  # the number of different pairs, including rare ones


def count_pairs(tokens: PhraseTokens, connectors: NDArray[np.int32], min_count: int, scratch: Path) -> Pairs:
    """Return the pairs of adjacent words within sentences with at least `min_count` occurrences.

    connectors: (size,) per id: the number of a connector from 1, 0 for other words, BORDER for words in no pair.
    Up to MAX_CONNECTORS_IN_A_ROW connectors may be between two words. scratch: a folder for sorted chunks.
    """
    size, base = len(tokens.counts), int(connectors.max(initial=0))
    check_key_size(size, base)
    state, buffer = np.zeros(5, np.int64), np.empty(min(CHUNK, len(tokens.ids) + 1), np.int64)
    state[FIRST] = BORDER

    def key_chunks() -> Iterator[NDArray[np.int64]]:
        while n_pairs := pair_keys(tokens.ids, tokens.sentences, connectors, buffer, state):
            yield buffer[:n_pairs]

    parts, distinct = [(np.empty(0, np.int64), np.empty(0, np.int64))], 0
    for keys, counts in count_keys(key_chunks(), scratch):
        distinct += len(keys)
        is_frequent = counts >= min_count
        parts.append((keys[is_frequent], counts[is_frequent]))
    keys, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    rest, second = np.divmod(keys, size)
    between, first = np.divmod(rest, size)
    return Pairs(first, second, between, counts, distinct)


def check_key_size(size: int, base: int) -> None:
    """Refuse more words and connectors than fit keys of 63 bits."""
    if sum(base**n for n in range(MAX_CONNECTORS_IN_A_ROW + 1)) * size**2 >= 1 << 63:
        problem = f"{size:,} different words with {base:,} connectors are too many for phrase keys"
        raise CorpusError(f"{problem}; use fewer connectors, or lower {S.max_types}")


@allocating_entry_point
def pair_keys(ids: Any, sentences: Any, connectors: Any, out: Any, state: Any) -> int:
    """Write the keys of pairs from the position in `state` until `out` is full; returns their number."""
    size, base = connectors.shape[0], max(np.int64(connectors.max()), np.int64(0))
    position, sentence, first = state[POSITION], state[SENTENCE], state[FIRST]
    between, n_between = state[BETWEEN], state[N_BETWEEN]
    n_pairs, last = 0, sentences.shape[0] - 1
    while n_pairs < out.shape[0] and sentence < last:
        if position >= min(sentences[sentence + 1], ids.shape[0]):
            sentence += 1
            first = BORDER
            continue
        word = np.int64(ids[position])
        position += 1
        connector = connectors[word] if 0 <= word < size else BORDER
        if connector == BORDER:
            first = BORDER
        elif connector == 0:
            if first >= 0:
                out[n_pairs] = (between * size + first) * size + word
                n_pairs += 1
            first, between, n_between = word, 0, 0
        elif first >= 0:
            between, n_between = between * base + connector, n_between + 1
            first = first if n_between <= MAX_CONNECTORS_IN_A_ROW else BORDER
    state[POSITION], state[SENTENCE], state[FIRST] = position, sentence, first
    state[BETWEEN], state[N_BETWEEN] = between, n_between
    return n_pairs


class Totals(NamedTuple):
    """Totals that scores use: `distinct` counts distinct words and pairs; `min_count` is subtracted from counts."""

    min_count: int
    tokens: int
    distinct: int


def word2phrase(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * tokens, as in the word2phrase program (Mikolov et al. 2013b, equation 6)."""
    return (both - totals.min_count) / (first * second) * totals.tokens


def gensim(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * distinct, where gensim counts distinct words and pairs together."""
    return (both - totals.min_count) / (first * second) * totals.distinct


def npmi(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """Normalised pointwise mutual information, from -1 to 1: log(p_ab / (p_a p_b)) / -log p_ab (Bouma 2009)."""
    a, b, ab = (counts / totals.tokens for counts in (first, second, both))
    return np.log(ab / (a * b)) / -np.log(ab)


def count(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """The number of occurrences of the pair."""
    return both


class Score(NamedTuple):
    """A score of pairs of words, the default threshold, and the range of thresholds."""

    function: Callable[[Floats, Floats, Floats, Totals], Floats]
    threshold: float
    lowest: float = 0
    highest: float = math.inf


SCORES = {
    "word2phrase": Score(word2phrase, 100),
    "gensim": Score(gensim, 10),
    "npmi": Score(npmi, 0.5, -1, 1),
    "count": Score(count, 0),
}
DEFAULT_THRESHOLDS = ", ".join(f"{score.threshold:g} for {name}" for name, score in SCORES.items())


@dataclass(frozen=True, kw_only=True)
class Phrases(Settings):
    """Settings of phrase detection.

    Raises:
        SettingError: a setting is out of range, or two contradict each other.
        FormatError: the file of connectors or the lexicon cannot be read.
    """

    scoring: Literal["word2phrase", "gensim", "npmi", "count"] = option(
        "word2phrase",
        "Score of two words a and b that are adjacent c_ab times: (c_ab - min_count) / (c_a c_b), times the number "
        "of tokens (word2phrase) or of distinct words and pairs (gensim); normalised pointwise mutual information "
        "(npmi); or c_ab (count).",
        common=True,
    )
    threshold: float | None = option(
        None,
        f"Minimum score (exclusive).  [default: {DEFAULT_THRESHOLDS}]",
        common=True,
    )
    thresholds: str | None = option(
        None,
        "Minimum score for each pass, separated by commas; the last is used for all further passes. word2phrase "
        "recommends 200,100.",
    )
    min_count: int = option(5, "Minimum number of occurrences of a phrase.", ge=1, common=True)
    passes: int = option(
        1,
        "Passes over the corpus; each further pass can join phrases into longer ones.",
        ge=1,
        le=MAX_PASSES,
        common=True,
    )
    connectors: str | None = option(
        None,
        "Words that may occur within a phrase, up to 4 in a row, but not at its ends: english, or a file of words.",
    )
    types: str | None = option(
        None,
        "Detect only phrases of these types, separated by commas: adjective-noun, noun-noun, verb-object, other.",
    )
    lexicon: str | None = option(
        None, "File of lines `word TAB part-of-speech`, which determine types.  [default: an English lexicon]"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for threshold in self.min_scores:
            _, _, lowest, highest = SCORES[self.scoring]
            check_value("threshold", threshold, float, {"ge": lowest, "le": highest})
        self.require("thresholds", len(self.min_scores) <= self.passes, f"as many {S.passes}, got {self.passes}")
        load_connectors(self.connectors)
        if self.types is None:
            self.require("lexicon", self.lexicon is None, S.types)
            return
        has_other = pos_types.OTHER in pos_types.check_types(self.types)
        self.require("passes", self.passes == 1 or has_other, f"{S.types} with {pos_types.OTHER}")
        self.load_lexicon()

    @property
    def min_scores(self) -> list[float]:
        """The minimum score of each pass; the last is used for all further passes."""
        if self.thresholds is None:
            return [SCORES[self.scoring].threshold if self.threshold is None else self.threshold]
        with suppress(ValueError):
            if self.threshold is None:
                return [float(part) for part in self.thresholds.split(",")]
        expected = f"numbers separated by commas, without {S.threshold}"
        raise SettingError(f"{S.thresholds} must be {expected}, got {self.thresholds!r:.80}")

    @property
    def fingerprint(self) -> str:
        """A digest that is equal for equal settings and equal files."""
        connectors = sorted((word, lower_case(word)) for word in load_connectors(self.connectors))
        settings = {**asdict(self), "threshold": None, "thresholds": self.min_scores, "connectors": connectors}
        tags = sorted(self.load_lexicon().items()) if self.types else None
        return sha256(json.dumps([settings, tags]).encode()).hexdigest()[:24]

    def load_lexicon(self) -> pos_types.Lexicon:
        """Return the lexicon: a part of speech for each known word."""
        return pos_types.english_lexicon() if self.lexicon is None else pos_types.read_lexicon(self.lexicon)

    def find(self, encoded: EncodedCorpus | Encodable) -> PhraseList:
        """Detect the phrases of a corpus, best first; memory holds the vocabulary and the frequent pairs.

        Raises:
            CorpusError: there are too many different words, or the corpus cannot be read.
            OutputError: the disk is full.
            SettingError: this is not a corpus.
        """
        encoded = as_encoded(encoded)
        phrases = PhraseList([])
        for step in range(1, self.passes + 1):
            with temporary_folder(corpora_folder()) as scratch:
                tokens, known_phrases = join_for_detection(encoded, phrases.phrases, scratch)
                new = DetectionPass(self, encoded, tokens, known_phrases, step).run(scratch)
            before = len(phrases)
            phrases = PhraseList([*phrases, *new])
            if len(phrases) == before:
                break
        best_first = sorted(phrases.phrases, key=lambda phrase: (-(phrase.score or 0), phrase.words))
        return PhraseList(best_first)


@dataclass
class DetectionPass:
    """One pass of phrase detection over a corpus that has the phrases of earlier passes as tokens."""

    settings: Phrases
    encoded: EncodedCorpus
    tokens: PhraseTokens
    known_phrases: list[Phrase]
    step: int

    def __post_init__(self) -> None:
        self.vocabulary = self.encoded.vocabulary
        self.tags = self.settings.load_lexicon() if self.settings.types else None
        words = load_connectors(self.settings.connectors)
        if self.encoded.meta["settings"].get("case") != "keep":
            words |= frozenset(map(lower_case, words))  # text is lower-cased, token lists are not
        # ids of the connectors in the corpus, the most frequent first
        self.connectors = sorted(self.vocabulary.ids[word] for word in words if word in self.vocabulary)

    def run(self, scratch: Path) -> list[Phrase]:
        """Return the phrases with scores above the threshold."""
        settings, counts = self.settings, self.tokens.counts
        connector_numbers = np.zeros(len(counts), np.int32)
        connector_numbers[self.connectors] = np.arange(1, len(self.connectors) + 1)
        connector_numbers[self.tokens.unknown] = BORDER
        pairs = count_pairs(self.tokens, connector_numbers, settings.min_count, scratch)
        words = int(np.count_nonzero(counts[connector_numbers == 0]))
        totals = Totals(settings.min_count, int(counts.sum()), pairs.distinct + words)
        both, first, second = (c.astype(float) for c in (pairs.counts, counts[pairs.first], counts[pairs.second]))
        scores = SCORES[settings.scoring].function(both, first, second, totals)
        min_score = settings.min_scores[: self.step][-1]
        above_threshold = np.flatnonzero(scores > min_score)
        return self.phrases(pairs, above_threshold, scores[above_threshold])

    def inner_words(self, between: int) -> tuple[str, ...]:
        """Decode the connectors between two words."""
        words: list[str] = []
        while between:
            digit = (between - 1) % len(self.connectors) + 1
            words.append(self.vocabulary.words[self.connectors[digit - 1]])
            between = (between - digit) // len(self.connectors)
        return tuple(reversed(words))

    def phrases(self, pairs: Pairs, above_threshold: NDArray[np.intp], scores: NDArray[np.float64]) -> list[Phrase]:
        """Return the pairs above the threshold as phrases of the requested types, with at most MAX_WORDS words."""
        rows = zip(*(column[above_threshold].tolist() for column in pairs[:4]), scores.tolist(), strict=True)
        phrases, types = [], self.settings.types and pos_types.check_types(self.settings.types)
        for first, second, between, count, score in rows:
            words = (*self.words(first), *self.inner_words(between), *self.words(second))
            type_name = None if self.tags is None else pos_types.phrase_type(words, self.tags)
            if len(words) <= MAX_WORDS and (types is None or type_name in types):
                phrases.append(Phrase(words, count, score, type_name, self.step))
        return phrases

    def words(self, token: int) -> tuple[str, ...]:
        """Return the words of an id."""
        if token < self.tokens.unknown:
            return (self.vocabulary.words[token],)
        return self.known_phrases[token - self.tokens.unknown - 1].words


@dataclass(frozen=True)
class PhraseConfig:
    """The source of phrases, the string between their words, and the mode of joining."""

    source: PhraseSource
    joiner: str
    mode: str

    @property
    def fingerprint(self) -> str:
        """A text that is equal if equal corpora give equal results."""
        return f"{self.source.fingerprint} {self.joiner} {self.mode}"

    def write(self, encoded: EncodedCorpus, folder: Path) -> None:
        """Write the corpus with phrases as tokens to a folder."""
        join_phrases(encoded, list(self.source.find(encoded)), folder, joiner=self.joiner, mode=self.mode)


def phrase_config(
    phrases: PhraseSource | str | os.PathLike[str], joiner: str, mode: str, form: WordForm
) -> PhraseConfig:
    """Return the configuration for detection settings, a list, a file, or "auto" unless a file has that name.

    Words of a list are converted to their `form` in the text.
    """
    check_joiner(joiner)
    check_value("phrase_mode", mode, PhraseMode, {})
    if isinstance(phrases, str | os.PathLike):
        is_auto = str(phrases) == AUTO and not Path(phrases).exists()
        phrases = Phrases() if is_auto else read_phrases(phrases, joiner=joiner)
    return PhraseConfig(phrases.map_words(form) if isinstance(phrases, PhraseList) else phrases, joiner, mode)

"""Find phrases: words that stand side by side more often than chance would have it."""

import json
from dataclasses import asdict, dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus_cache.tempdir import lent_in
from embeddings.corpora.phrases import lexicon as lexicons
from embeddings.corpora.phrases.application import tokens_of
from embeddings.corpora.phrases.bigram_counts import Pairs, count_pairs
from embeddings.corpora.phrases.connectors import connecting
from embeddings.corpora.phrases.phrase_list import LONGEST, PASSES, Phrase, PhraseList
from embeddings.corpora.phrases.pos_types import OTHER, TAGS, TYPES, check_types, may_hold, tag_codes, type_of
from embeddings.corpora.phrases.scores import SCORES, THRESHOLDS, Totals, as_threshold, check_threshold
from embeddings.corpora.phrases.word_classes import BORDER, Tokens
from embeddings.corpora.tokenizers import lowered
from embeddings.errors import SettingError
from embeddings.settings import Settings, option
from embeddings.support.cache_folder import folder

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

Where = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Phrases(Settings):
    """How phrases are found: settings, checked when they are made.

    Raises:
        SettingError: one is out of range, or two contradict each other.
        FormatError: a file of connecting words or the lexicon cannot be read.
    """

    scoring: Literal["word2phrase", "gensim", "npmi", "count"] = option(
        "word2phrase",
        "Score of two words a and b that stand side by side c_ab times: (c_ab - min_count) / (c_a c_b), times the "
        "words of the corpus (word2phrase) or its distinct words and pairs (gensim); normalised pointwise mutual "
        "information (npmi); or c_ab itself (count).",
    )
    threshold: float | None = option(
        None,
        "What a score must be above.  [default: 100 for word2phrase, 10 for gensim, 0.5 for npmi, 0 for count]",
    )
    thresholds: str | None = option(
        None,
        "The same for each pass, with commas between, such as 200,100, the recipe of word2phrase; the last is for all "
        "further passes.",
    )
    min_count: int = option(5, "Words side by side less often than this are no phrase.", least=1)
    passes: int = option(
        1, "Passes over the corpus: the second makes phrases of phrases, and so on.", least=1, most=PASSES
    )
    connectors: str | None = option(
        None, "Words that may stand within a phrase, up to 4 in a row, but not end one: english, or a file of words."
    )
    types: str | None = option(
        None,
        "Find phrases of these types only, and tell each one's: adjective-noun, noun-noun, verb-object, other; "
        "with commas between.",
    )
    lexicon: str | None = option(
        None, "File of lines of word, tab, part of speech, by which types are told.  [default: one of English]"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for threshold in self.least_scores:
            check_threshold(self.scoring, threshold)
        if len(self.least_scores) > self.passes:
            raise SettingError(f"thresholds are {len(self.least_scores)}, and passes {self.passes}")
        connecting(self.connectors)
        if self.types is None:
            if self.lexicon is not None:
                raise SettingError("a lexicon tells types: name them too")
            return
        if OTHER not in check_types(self.types) and self.passes > 1:
            raise SettingError(f"phrases of a type have two words and are found in 1 pass, not {self.passes}")
        self.tags()

    @property
    def least_scores(self) -> list[float]:
        """What a score must be above in each pass, the last in all further ones.

        Raises:
            SettingError: thresholds are no numbers, or both settings name some.
        """
        if self.thresholds is None:
            return [THRESHOLDS[self.scoring] if self.threshold is None else self.threshold]
        if self.threshold is not None:
            raise SettingError("threshold and thresholds say the same: leave one out")
        return [as_threshold(part.strip(), self.thresholds) for part in self.thresholds.split(",")]

    @property
    def identity(self) -> str:
        """Equal for equal settings and equal files."""
        connectors = sorted((word, lowered(word)) for word in connecting(self.connectors))
        told = {**asdict(self), "threshold": None, "thresholds": self.least_scores, "connectors": connectors}
        tags = sorted(self.tags().items()) if self.types else None
        return sha256(json.dumps([told, tags]).encode()).hexdigest()[:24]

    def tags(self) -> lexicons.Lexicon:
        """The part of speech of each word that has one."""
        return lexicons.english() if self.lexicon is None else lexicons.read(self.lexicon)

    def find(self, encoded: "EncodedCorpus") -> PhraseList:
        """The phrases of a corpus, the best first; memory holds the vocabulary and the pairs that occur often.

        Raises:
            CorpusError: there are too many different words to tell pairs apart.
            OutputError: the disk is full.
        """
        found = PhraseList([])
        for step in range(1, self.passes + 1):
            with lent_in(folder("corpora")) as scratch:
                tokens, known = tokens_of(encoded, found, scratch)
                new = Search(self, encoded, tokens, known, step).best(scratch)
            before = len(found)
            found = PhraseList([*found, *new])
            if len(found) == before:
                break
        best = sorted(found.phrases, key=lambda phrase: (-(phrase.score or 0), phrase.words))
        return PhraseList(best)


class Search(NamedTuple):
    """One pass: what is looked for, and in what."""

    settings: Phrases
    encoded: "EncodedCorpus"
    tokens: Tokens
    known: PhraseList
    step: int

    def best(self, scratch: Path) -> list[Phrase]:
        """The phrases above the threshold."""
        settings, counts = self.settings, self.tokens.counts
        connectors = self.connectors()
        links = self.links(connectors)
        pairs = count_pairs(self.tokens, links, settings.min_count, scratch)
        words = int(np.count_nonzero(counts[links == 0]))
        totals = Totals(settings.min_count, int(counts.sum()), pairs.distinct + words)
        both, first, second = (
            numbers.astype(float) for numbers in (pairs.counts, counts[pairs.first], counts[pairs.second])
        )
        scores = SCORES[settings.scoring](both, first, second, totals)
        least = settings.least_scores[: self.step][-1]
        chosen = np.flatnonzero((scores > least) & self.wanted(pairs, connectors))
        return self.phrases(pairs, chosen, scores[chosen], connectors)

    def connectors(self) -> list[int]:
        """The ids of the connecting words that the corpus has, the most frequent first."""
        words = connecting(self.settings.connectors)
        if self.encoded.meta["settings"].get("case") == "lower":
            words |= frozenset(map(lowered, words))  # lists of tokens are not lower-cased
        return sorted(self.encoded.vocabulary.ids[word] for word in words if word in self.encoded.vocabulary)

    def links(self, connectors: list[int]) -> NDArray[np.int32]:
        """What `count_pairs` asks of each id."""
        links = np.zeros(self.tokens.size, np.int32)
        links[connectors] = np.arange(1, len(connectors) + 1)
        links[self.tokens.unknown] = BORDER
        return links

    def wanted(self, pairs: Pairs, connectors: list[int]) -> Where:
        """Whether each pair is of a type that is asked for."""
        everything = np.ones(len(pairs.counts), bool)
        if self.settings.types is None:
            return everything
        names, lexicon = check_types(self.settings.types), self.settings.tags()
        codes = np.full(self.tokens.size, -1, np.int8)
        codes[: self.tokens.unknown] = tag_codes(self.encoded.vocabulary.words, lexicon)
        ends = codes[pairs.first], codes[pairs.second]
        inner = {between: self.inner(between, connectors) for between in np.unique(pairs.between).tolist()}
        of_type: dict[str, Where] = {}
        for name, tags in TYPES.items():
            allowed = [between for between, words in inner.items() if may_hold(name, words, lexicon)]
            first, second = (code == TAGS.index(tag) for code, tag in zip(ends, tags, strict=True))
            of_type[name] = first & second & np.isin(pairs.between, allowed)
        of_type[OTHER] = ~reduce(np.logical_or, of_type.values())
        return reduce(np.logical_or, [of_type[name] for name in names])

    def inner(self, between: int, connectors: list[int]) -> tuple[str, ...]:
        """The connecting words that a number stands for."""
        words: list[str] = []
        while between:
            digit = (between - 1) % len(connectors) + 1
            words.append(self.encoded.vocabulary.words[connectors[digit - 1]])
            between = (between - digit) // len(connectors)
        return tuple(reversed(words))

    def phrases(
        self, pairs: Pairs, chosen: NDArray[np.intp], scores: NDArray[np.float64], connectors: list[int]
    ) -> list[Phrase]:
        """The chosen pairs by their words."""
        lexicon = self.settings.tags() if self.settings.types else None
        rows = zip(*(column[chosen].tolist() for column in pairs[:4]), scores.tolist(), strict=True)
        found = []
        for first, second, between, count, score in rows:
            words = (*self.words(first), *self.inner(between, connectors), *self.words(second))
            if len(words) <= LONGEST:
                kind = None if lexicon is None else type_of(words, lexicon)
                found.append(Phrase(words, count, score, kind, self.step))
        return found

    def words(self, token: int) -> tuple[str, ...]:
        """The words of an id."""
        if token < self.tokens.unknown:
            return (self.encoded.vocabulary.words[token],)
        return self.known.phrases[token - self.tokens.unknown - 1].words

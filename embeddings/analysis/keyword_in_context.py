"""Concordances: lines of a corpus around the occurrences of a word (keyword in context)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from embeddings.analysis.occurrences import MAX_WIDTH, MAX_WINDOW, Occurrences, check_corpus, document_of
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.settings import Positive, Range, check_arguments
from embeddings.support.docstrings import argument_texts
from embeddings.support.result_table import ResultTable, TabularResult


@dataclass(frozen=True)
class ConcordanceLine:
    """One occurrence.

    Arguments:
        document: the tag of its document, or the number, from 0, as in models.
        line: the number of its line in the corpus, from 1.
        left, keyword, right: the text around it, within its line of the corpus, as the tokenizer reads it.
    """

    document: str
    line: int
    left: str
    keyword: str
    right: str


class ConcordanceLines(ResultTable[ConcordanceLine]):
    """Lines with the words below one another."""

    columns = argument_texts(ConcordanceLine)
    right = ("left",)


@dataclass(frozen=True, repr=False)
class Concordance(TabularResult):
    """Lines of a concordance, and how many occurrences there are in `total`."""

    lines: list[ConcordanceLine]
    total: int

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """The lines."""
        note = f"{len(self.lines):,} of {self.total:,} occurrences"
        return [ConcordanceLines(self.lines, notes=[note] * (len(self.lines) < self.total))]


def concordance(
    corpus: Corpus,
    word: str,
    other: str | None = None,
    *,
    window: Annotated[int, Range(ge=1, le=MAX_WINDOW)] = 5,
    lines: Positive = 20,
    width: Annotated[int, Range(ge=1, le=MAX_WIDTH)] = 40,
) -> Concordance:
    """Lines of a corpus around the occurrences of a word.

    >>> import embeddings as em
    >>> found = em.analysis.concordance(em.Corpus(["The cat sat.", "A dog sat by the cat."]), "cat", width=10)
    >>> [(line.left, line.keyword, line.right) for line in found.lines]
    [('the', 'cat', 'sat'), ('sat by the', 'cat', '')]

    Arguments:
        word: a word, or several consecutive words, as typed: they are converted like the text of the corpus.
        other: only occurrences with this word near them.
        window: the maximum distance in words between the word and OTHER.
        lines: the maximum number of lines. If there are more, these are evenly spaced over the corpus.
        width: the number of characters on each side of the word.

    Raises:
        UnknownWordError: a word does not occur in the corpus.
        SettingError: an argument is out of range.
        CorpusError: as `Corpus.encode`.
    """
    check_arguments(concordance, window=window, lines=lines, width=width)
    encoded = check_corpus(corpus).encode()
    occurrences = Occurrences.of(encoded, word)
    if other is not None:
        occurrences = occurrences.near(Occurrences.of(encoded, other), window)
    return Concordance(concordance_lines(occurrences, lines, width), len(occurrences))


def concordance_lines(occurrences: Occurrences, lines: int, width: int) -> list[ConcordanceLine]:
    """At most `lines` occurrences, evenly spaced."""
    encoded, total = occurrences.encoded, len(occurrences)
    rows = np.arange(total) if total <= lines else (np.arange(lines) * total + total // 2) // lines
    chosen = replace(occurrences, positions=occurrences.positions[rows])
    sentences, (starts, ends) = chosen.sentences, chosen.bounds(width)  # a word has one character at least
    size = len(chosen.words)
    return [
        ConcordanceLine(
            document_name(encoded, sentence),
            sentence + 1,
            first_words(text_between(encoded, start, position)[::-1], width)[::-1],
            " ".join(chosen.words),
            first_words(text_between(encoded, position + size, end), width),
        )
        for position, sentence, start, end in zip(
            chosen.positions.tolist(), sentences.tolist(), starts.tolist(), ends.tolist(), strict=True
        )
    ]


def text_between(encoded: EncodedCorpus, begin: int, end: int) -> str:
    """The words between two positions; an ellipsis for a word outside the vocabulary."""
    words = encoded.vocabulary.words
    return " ".join(words[number] if number < len(words) else "…" for number in encoded.ids[begin:end].tolist())


def first_words(text: str, width: int) -> str:
    """The words at the start of a text that fit the width; the first is cut if it does not."""
    if len(text) <= width:
        return text
    end = text.rfind(" ", 0, width + 1)
    return text[: width if end < 0 else end]


def document_name(encoded: EncodedCorpus, sentence: int) -> str:
    """The tag of the document that a sentence is in, or its number, from 0."""
    document = int(document_of(encoded, np.array(sentence)))
    tag = None if encoded.tags is None else encoded.first_tags[document].as_py()
    return str(document) if tag is None else str(tag)

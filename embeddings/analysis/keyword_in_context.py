"""Concordances: lines of a corpus around the occurrences of a word (keyword in context)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from embeddings.analysis.occurrences import (
    MAX_WIDTH,
    MAX_WINDOW,
    Occurrences,
    Unit,
    document_of,
    sentence_of,
)
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus, as_encoded
from embeddings.corpora.original_lines import OriginalLine, original_lines, word_spans
from embeddings.settings import Positive, Range, check_arguments
from embeddings.support.docstrings import argument_texts
from embeddings.support.result_table import ResultTable, TabularResult


@dataclass(frozen=True)
class ConcordanceLine:
    """One occurrence.

    Arguments:
        document: the tag of its document, or the number, from 0, as in models.
        line: the number of its line in the corpus, from 1.
        left, keyword, right: the text around it, as in the source or as the tokenizer reads it.
        file: the file that it is in, if its source was read again; else empty.
    """

    document: str
    line: int
    left: str
    keyword: str
    right: str
    file: str = ""


class ConcordanceLines(ResultTable[ConcordanceLine]):
    """Lines with the words below one another, without columns that are empty for all lines."""

    columns: Mapping[str, str] = argument_texts(ConcordanceLine)
    right = ("left",)

    def shown(self, row: ConcordanceLine) -> dict[str, Any]:
        """The cells of a line."""
        return {name: getattr(row, name) for name in self.names}

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns that are not empty."""
        return [one.name for one in fields(ConcordanceLine) if any(getattr(line, one.name) != "" for line in self)]


Sort = Literal["position", "left", "right"]


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
    context: Unit = "document",
    sort: Sort = "position",
    original: bool = True,
) -> Concordance:
    """Lines of a corpus around the occurrences of a word.

    >>> import embeddings as em
    >>> found = em.analysis.concordance(em.Corpus(["The cat sat.", "A dog sat by the Cat."]), "cat", width=10)
    >>> [(line.left, line.keyword, line.right) for line in found.lines]
    [('The', 'cat', 'sat.'), ('sat by the', 'Cat', '.')]

    Arguments:
        word: a word, or several consecutive words of a line, as typed: they are converted like the text of the corpus.
            In each, * stands for any characters, as in "embed*"; alone, it stands for any word.
        other: only occurrences with this word near them, in the same line.
        window: the maximum distance in words between the word and OTHER.
        lines: the maximum number of lines. If there are more, these are evenly spaced over the corpus.
        width: the number of characters on each side of the word.
        context: where the text around the word ends: at the ends of the "document", which in plain text are blank
            lines, or of the "line".
        sort: the order of the lines: by "position" in the corpus, or by the words to the "left" of the word, from the
            nearest on, or to the "right".
        original: show the text as in the sources, which are read again, instead of the words of the tokenizer. The
            words are shown where a source can be read once only, such as standard input, or the text has other words.

    Raises:
        UnknownWordError: a word does not occur in the corpus.
        SettingError: an argument is out of range.
        CorpusError: as `Corpus.encode`.
    """
    check_arguments(concordance, window=window, lines=lines, width=width, context=context, sort=sort, original=original)
    encoded = as_encoded(corpus)
    occurrences = Occurrences.of(encoded, word)
    if other is not None:
        occurrences = occurrences.near(Occurrences.of(encoded, other), window)
    found = concordance_lines(occurrences, lines, width, context, corpus if original else None)
    if sort != "position":  # from the nearest word on, without case and punctuation
        step = -1 if sort == "left" else 1
        found.sort(key=lambda line: re.findall(r"\w+", getattr(line, sort).casefold())[::step])
    return Concordance(found, len(occurrences))


def concordance_lines(
    occurrences: Occurrences, lines: int, width: int, context: Unit = "line", corpus: Corpus | None = None
) -> list[ConcordanceLine]:
    """At most `lines` occurrences, evenly spaced, with the words of the tokenizer or the text of `corpus` around them.

    Arguments:
        context: the unit that ends the text around an occurrence.
    """
    encoded, total = occurrences.encoded, len(occurrences)
    # the middle of each of `lines` equal parts, so that neither end of the corpus is favoured
    rows = np.arange(total) if total <= lines else (np.arange(lines) * total + total // 2) // lines
    hits = replace(occurrences, positions=occurrences.positions[rows])
    starts, ends = hits.bounds(width, context)  # a word has one character at least
    documents = document_of(encoded, hits.sentences).tolist()
    ranges = [
        range(*pair) for pair in zip(sentence_of(encoded, starts), sentence_of(encoded, ends - 1) + 1, strict=True)
    ]
    numbers = {number for one in ranges for number in one}
    text = {} if corpus is None else original_lines(corpus, np.array(sorted(numbers), np.int64))
    found = []
    for number, (place, line, document) in enumerate(
        zip(hits.positions.tolist(), hits.sentences.tolist(), documents, strict=True)
    ):
        parts = None
        if corpus is not None and all(one in text for one in ranges[number]):
            parts = original_parts(hits, number, ranges[number], corpus, text)
        borders = [int(starts[number]), place, place + len(hits.words), int(ends[number])]
        words = [words_between(encoded, *pair) for pair in pairwise(borders)]
        parts = parts or [" ".join("…" if word is None else word for word in part) for part in words]
        left, keyword, right = (" ".join(part.split()) for part in parts)
        # reversed, so that the words nearest to the keyword are the first, which are kept
        left, right = first_words(left[::-1], width)[::-1], first_words(right, width)
        tag = None if encoded.tags is None else encoded.first_tags[document].as_py()
        name = str(document if tag is None else tag)
        found.append(ConcordanceLine(name, line + 1, left, keyword, right, text[line].file if line in text else ""))
    return found


def original_parts(
    hits: Occurrences, number: int, lines: range, corpus: Corpus, text: Mapping[int, OriginalLine]
) -> list[str] | None:
    """The original text of lines before, in and after an occurrence; None if its line has other words."""
    encoded, line = hits.encoded, int(hits.sentences[number])
    start, stop = encoded.sentences[line : line + 2].tolist()
    joiner = (encoded.meta.get("phrases") or {}).get("joiner")
    current = text[line].text
    spans = word_spans(corpus.rules, current, words_between(encoded, start, stop), joiner)
    if spans is None:
        return None
    place = int(hits.positions[number]) - start
    begin, end = spans[place][0], spans[place + len(hits.words) - 1][1]
    before = [text[one].text for one in lines if one < line]
    after = [text[one].text for one in lines if one > line]
    return [" ".join([*before, current[:begin]]), current[begin:end], " ".join([current[end:], *after])]


def words_between(encoded: EncodedCorpus, begin: int, end: int) -> list[str | None]:
    """The words between two positions; None for a word outside the vocabulary."""
    words = encoded.vocabulary.words
    return [words[number] if number < len(words) else None for number in encoded.ids[begin:end].tolist()]


def first_words(text: str, width: int) -> str:
    """The words at the start of a text that fit the width; the first is cut if it does not."""
    if len(text) <= width:
        return text
    end = text.rfind(" ", 0, width + 1)
    return text[: width if end < 0 else end]

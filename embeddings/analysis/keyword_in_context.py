"""Concordances: lines of a corpus around the occurrences of a word (keyword in context)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from embeddings.analysis.occurrences import MAX_WIDTH, MAX_WINDOW, Occurrences, check_corpus, document_of, sentence_of
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
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
        left, keyword, right: the text around it, within its line of the corpus, as the tokenizer reads it.
    """

    document: str
    line: int
    left: str
    keyword: str
    right: str


class ConcordanceLines(ResultTable[ConcordanceLine]):
    """Lines with the words below one another."""

    columns: Mapping[str, str] = argument_texts(ConcordanceLine)
    right = ("left",)


Context = Literal["document", "line"]
Sort = Literal["position", "left", "right"]


@dataclass(frozen=True)
class SourceLine(ConcordanceLine):
    """One occurrence in a source.

    Arguments:
        left, keyword, right: the text around it, as in the source, or as the tokenizer reads it.
        file: the file that it is in; empty for other sources.
        title: the first line of its document, if it is much shorter than the next line; else empty.
    """

    file: str
    title: str


class SourceLines(ConcordanceLines):
    """Lines with their files and titles, if any has one."""

    columns: Mapping[str, str] = {**ConcordanceLines.columns, **argument_texts(SourceLine)}

    def shown(self, row: ConcordanceLine) -> dict[str, Any]:
        """The cells of a line without columns that are empty for all lines."""
        names = [name for name in self.columns if any(getattr(line, name) != "" for line in self)]
        return {name: getattr(row, name) for name in names}


@dataclass(frozen=True, repr=False)
class Concordance(TabularResult):
    """Lines of a concordance, and how many occurrences there are in `total`."""

    lines: list[SourceLine]
    total: int

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """The lines."""
        note = f"{len(self.lines):,} of {self.total:,} occurrences"
        return [SourceLines(self.lines, notes=[note] * (len(self.lines) < self.total))]


def concordance(
    corpus: Corpus,
    word: str,
    other: str | None = None,
    *,
    window: Annotated[int, Range(ge=1, le=MAX_WINDOW)] = 5,
    lines: Positive = 20,
    width: Annotated[int, Range(ge=1, le=MAX_WIDTH)] = 40,
    context: Context = "document",
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
    encoded = check_corpus(corpus).encode()
    occurrences = Occurrences.of(encoded, word)
    if other is not None:
        occurrences = occurrences.near(Occurrences.of(encoded, other), window)
    chosen = Contexts(evenly_spaced(occurrences, lines), width, context)
    text = original_lines(corpus, chosen.line_numbers) if original else {}
    found = [chosen.source_line(number, corpus, text) for number in range(len(chosen.hits))]
    if sort != "position":
        found.sort(key=lambda line: nearest_words(line, sort))
    return Concordance(found, len(occurrences))


def nearest_words(line: ConcordanceLine, side: Sort) -> list[str]:
    """The words on one side, from the nearest on, without case and punctuation."""
    words = re.findall(r"\w+", (line.left if side == "left" else line.right).casefold())
    return words[::-1] if side == "left" else words


@dataclass(frozen=True)
class Contexts:
    """The texts around occurrences, at most `width` characters on each side, within their documents or lines."""

    hits: Occurrences
    width: int
    context: Context

    @cached_property
    def documents(self) -> np.ndarray:
        """The document of each occurrence, (occurrences,)."""
        return document_of(self.hits.encoded, self.hits.sentences)

    @cached_property
    def token_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The first token around each occurrence, and the one after the last; a word has one character at least."""
        if self.context == "line":
            return self.hits.bounds(self.width)
        positions, encoded = self.hits.positions, self.hits.encoded
        borders = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
        starts = np.maximum(positions - self.width, borders[self.documents])
        return starts, np.minimum(positions + len(self.hits.words) + self.width, borders[self.documents + 1])

    @cached_property
    def line_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last line around each occurrence."""
        starts, ends = self.token_bounds
        return sentence_of(self.hits.encoded, starts), sentence_of(self.hits.encoded, ends - 1)

    @cached_property
    def titles(self) -> dict[int, int]:
        """The line with the title of each document that has one."""
        encoded = self.hits.encoded
        found = {}
        for document in np.unique(self.documents).tolist():
            first, stop = encoded.documents[document : document + 2].tolist()
            sizes = np.diff(encoded.sentences[first : min(stop, first + N_TITLE_LINES) + 1])
            lines = np.flatnonzero(sizes)[:2]
            if len(lines) == 2 and sizes[lines[1]] > 2 * sizes[lines[0]] and sizes[lines[0]] <= MAX_TITLE:
                found[document] = first + int(lines[0])
        return found

    @property
    def line_numbers(self) -> np.ndarray:
        """The numbers of all lines around occurrences and of titles, ascending."""
        ranges = [np.arange(first, last + 1) for first, last in zip(*self.line_bounds, strict=True)]
        return np.unique(np.concatenate([*ranges, np.array([*self.titles.values()], np.int64)]))

    def source_line(self, number: int, corpus: Corpus, text: Mapping[int, OriginalLine]) -> SourceLine:
        """The line of an occurrence, with the original text if `text` has it."""
        encoded = self.hits.encoded
        line, document = int(self.hits.sentences[number]), int(self.documents[number])
        parts = self.original_parts(number, corpus, text) or self.token_parts(number)
        left, keyword, right = (" ".join(part.split()) for part in parts)
        title = self.titles.get(document)
        heading = "" if title is None else line_text(encoded, title, text)
        left, right = first_words(left[::-1], self.width)[::-1], first_words(right, self.width)
        file = text[line].file if line in text else ""
        return SourceLine(document_name(encoded, line), line + 1, left, keyword, right, file, heading)

    def token_parts(self, number: int) -> tuple[str, str, str]:
        """The words of the corpus before, in and after an occurrence."""
        place, size = int(self.hits.positions[number]), len(self.hits.words)
        borders = [int(self.token_bounds[0][number]), place, place + size, int(self.token_bounds[1][number])]
        left, keyword, right = (text_between(self.hits.encoded, *pair) for pair in pairwise(borders))
        return left, keyword, right

    def original_parts(
        self, number: int, corpus: Corpus, text: Mapping[int, OriginalLine]
    ) -> tuple[str, str, str] | None:
        """The original text before, in and after an occurrence; None if it is not known, or has other words."""
        encoded, line = self.hits.encoded, int(self.hits.sentences[number])
        first, last = (int(bounds[number]) for bounds in self.line_bounds)
        if not all(one in text for one in range(first, last + 1)):
            return None
        start, stop = encoded.sentences[line : line + 2].tolist()
        phrases = encoded.meta.get("phrases") or {}
        current = text[line].text
        spans = word_spans(corpus.rules, current, words_between(encoded, start, stop), phrases.get("joiner"))
        if spans is None:
            return None
        place = int(self.hits.positions[number]) - start
        begin, end = spans[place][0], spans[place + len(self.hits.words) - 1][1]
        before = " ".join([*(text[one].text for one in range(first, line)), current[:begin]])
        after = " ".join([current[end:], *(text[one].text for one in range(line + 1, last + 1))])
        return before, current[begin:end], after


N_TITLE_LINES = 100  # at the start of a document, among which its title and the next line are
MAX_TITLE = 12  # words of a title


def line_text(encoded: EncodedCorpus, line: int, text: Mapping[int, OriginalLine]) -> str:
    """A line as in its source if `text` has it, else its words."""
    if line in text:
        return " ".join(text[line].text.split())
    return text_between(encoded, *encoded.sentences[line : line + 2].tolist())


def evenly_spaced(occurrences: Occurrences, lines: int) -> Occurrences:
    """At most `lines` occurrences, evenly spaced."""
    total = len(occurrences)
    rows = np.arange(total) if total <= lines else (np.arange(lines) * total + total // 2) // lines
    return replace(occurrences, positions=occurrences.positions[rows])


def concordance_lines(occurrences: Occurrences, lines: int, width: int) -> list[ConcordanceLine]:
    """At most `lines` occurrences, evenly spaced, with the words of the tokenizer around them in their lines."""
    chosen = Contexts(evenly_spaced(occurrences, lines), width, "line")
    found = []
    for number, line in enumerate(chosen.hits.sentences.tolist()):
        left, keyword, right = chosen.token_parts(number)
        left, right = first_words(left[::-1], width)[::-1], first_words(right, width)
        found.append(ConcordanceLine(document_name(occurrences.encoded, line), line + 1, left, keyword, right))
    return found


def words_between(encoded: EncodedCorpus, begin: int, end: int) -> list[str | None]:
    """The words between two positions; None for a word outside the vocabulary."""
    words = encoded.vocabulary.words
    return [words[number] if number < len(words) else None for number in encoded.ids[begin:end].tolist()]


def text_between(encoded: EncodedCorpus, begin: int, end: int) -> str:
    """The words between two positions; an ellipsis for a word outside the vocabulary."""
    return " ".join("…" if word is None else word for word in words_between(encoded, begin, end))


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

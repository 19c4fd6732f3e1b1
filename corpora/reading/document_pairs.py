"""Pairs of texts made from documents: titles with paragraphs, first sentences with the rest, and neighbours."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.reader import Block, SourceReader, TagBlock
from embeddings.corpora.reading.sentence_borders import split_sentences
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.table_columns import batches_of
from embeddings.corpora.reading.text_batches import text_batches
from embeddings.corpora.reading.text_rows import ColumnSelection, Tag, TextBlock
from embeddings.errors import CorpusError

TITLE_BODY, NEIGHBOURS = "title-body", "neighbours"
PARAGRAPHS, SENTENCES, FIRST_SENTENCE = "neighbouring-paragraphs", "neighbouring-sentences", "first-sentence"
DOCUMENT_PAIRS = (TITLE_BODY, NEIGHBOURS, PARAGRAPHS, SENTENCES, FIRST_SENTENCE)
MIN_BYTES = 40  # of a paragraph or sentence; shorter ones, such as headings, are not paired
RULE = f"paragraphs and sentences have at least {MIN_BYTES} bytes, and blank lines separate documents of plain text"
BATCH_PAIRS = 4096
MAX_LONE_TITLE = 100  # paragraphs after which one title only is a sign that documents are not separated
Pair = tuple[str, str]
Line = tuple[bool, str]  # whether a document begins here, and its title or a paragraph


def document_pairs(
    source: Source,
    kinds: Sequence[str],
    *,
    text_column: str | None = None,
    title_column: str | None = None,
    encoding: str = UTF8,
    encoding_errors: str = "strict",
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the left and the right texts of pairs of a source, a few thousand at a time.

    In plain text, blank lines separate documents; each row of a table and each string of an iterable is a document.
    The first line is the title, unless `title_column` names a column of titles. Every other line is a paragraph.

    Raises:
        CorpusError: the source cannot be read, or has a single document for title-body.
    """
    columns = ColumnSelection(text_column, (title_column,) if title_column else ())
    reader = SourceReader(encoding_errors, columns=columns, encoding=encoding)
    lines = document_lines(reader.read(source), source.name)
    for part in batches_of(line_pairs(lines, kinds, source.name), BATCH_PAIRS):
        left, right = zip(*part, strict=True)
        yield list(left), list(right)


def line_pairs(lines: Iterable[Line], kinds: Sequence[str], name: str) -> Iterator[Pair]:
    """Yield the pairs of the lines of documents."""
    with_title = TITLE_BODY in kinds
    with_paragraphs = NEIGHBOURS in kinds or PARAGRAPHS in kinds
    with_sentences, with_first = NEIGHBOURS in kinds or SENTENCES in kinds, FIRST_SENTENCE in kinds
    title = previous = ""
    n_titles = n_bodies = 0
    for is_title, line in lines:
        if is_title:
            title, previous = line, ""
            n_titles += 1
            continue
        if not is_long(line):
            continue
        if with_title and title:
            n_bodies += 1
            yield title, line
        if with_paragraphs and previous:
            yield previous, line
        sentences = list(split_sentences(line)) if with_sentences or with_first else []
        if with_sentences:
            yield from pairwise(filter(is_long, sentences))
        if with_first and is_long(sentences[0]) and is_long(rest := " ".join(sentences[1:])):
            yield sentences[0], rest
        previous = line
    if with_title and n_titles == 1 and n_bodies > MAX_LONE_TITLE:
        raise CorpusError(
            f"{name} has a single title for {n_bodies} paragraphs; title-body requires a blank line between documents"
        )


def is_long(text: str) -> bool:
    """Whether a paragraph or sentence is long enough for a pair."""
    return len(text) >= MIN_BYTES or len(text.encode()) >= MIN_BYTES


def document_lines(blocks: Iterable[Block], name: str) -> Iterator[Line]:
    """Yield the lines of documents that are not blank: titles and paragraphs."""
    titles: list[Tag] = []  # of rows to come
    has_titles, is_items = False, False

    def text_blocks() -> Iterator[Block]:
        nonlocal has_titles, is_items
        for block in blocks:
            if isinstance(block, TagBlock):
                has_titles = True
                titles.extend(block.tags)
            elif isinstance(block, TextBlock):
                is_items = block.items
                yield block
            else:
                raise CorpusError(f"{name} contains lists of tokens; expected documents")

    is_start = True
    for data, starts in text_batches(text_blocks()):
        for number, (start, stop) in enumerate(pairwise(starts.tolist())):
            text = data[start:stop].decode()
            if not is_items:
                line = text.strip()
                if line:
                    yield is_start, line
                is_start = not line
                continue
            title = titles[number] if has_titles else None
            if has_titles:
                yield True, (title if isinstance(title, str) else " ".join(title or ())).strip()
            paragraphs = [line for line in map(str.strip, text.splitlines()) if line]
            yield from ((not has_titles and place == 0, line) for place, line in enumerate(paragraphs))
        del titles[: len(starts) - 1]

"""Encodes pairs of texts: each pair is a document, each of its two or three texts a sentence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.reading.text_pairs import COLUMNS, PairBatch, PairColumns, TextPairs, check_kinds
from embeddings.errors import CorpusError, S, SettingError, SingleTextError, marked

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoder import Encoder

PAIR_SIDES = "pair_sides"  # in the description of a corpus: how many texts a pair has
T = TypeVar("T")
LINE_BREAKS = {ord(mark): " " for mark in "\n\r"}


@dataclass(frozen=True)
class PairFormat:
    """How pairs of texts are read from the sources of a corpus.

    Arguments:
        kinds: what a pair is, several separated by commas. "columns": a row of a table, or a line of texts separated by
            tabs. Made from documents: "title-body" (the title and each paragraph), "neighbouring-paragraphs",
            "neighbouring-sentences", "neighbours" (both), "first-sentence" (the first sentence of a paragraph and the
            rest of it).
        left, right, negative, rating, header: see `PairColumns`.
        title_column: the column of titles of documents in tables. By default the first line of a document is its title.

    Raises:
        SettingError: an argument is out of range.
    """

    kinds: str = COLUMNS
    left: str | None = None
    right: str | None = None
    negative: str | None = None
    rating: str | None = None
    header: bool | None = None
    title_column: str | None = None

    def __post_init__(self) -> None:
        check_kinds(self.kinds.split(","))
        self.columns()

    def columns(self) -> PairColumns:
        """The columns of tables."""
        return PairColumns(self.left, self.right, self.negative, self.rating, self.header)

    def read(self, corpus: "Corpus") -> TextPairs:
        """The pairs of the sources of a corpus."""
        return TextPairs(
            *cast(Any, corpus.sources),
            kinds=self.kinds.split(","),
            columns=self.columns(),
            text_column=corpus.text_column,
            title_column=self.title_column,
            encoding=corpus.encoding,
            encoding_errors=corpus.encoding_errors,
        )


def format_of(pairs: TextPairs) -> PairFormat:
    """The `PairFormat` with the arguments of a `TextPairs`."""
    return PairFormat(",".join(pairs.kinds), **asdict(pairs.columns), title_column=pairs.title_column)


def check_format(
    name: str, value: T | None, kind: type[T], corpus: "Corpus",
    others: Sequence[str] = ("labels", "pairs", "tag_column", "rows", "deduplicate"),
) -> T | None:  # fmt: skip
    """Return a format of a corpus; raises SettingError if one of `others` of the corpus is set, too."""
    if not isinstance(value, kind | None):
        raise SettingError(f"{S[name]} must be an embeddings.corpora.{kind.__name__}, got {value!r:.80}")
    for other in others:
        if value is not None and other != name and getattr(corpus, other):
            raise SettingError(f"{S[name]} cannot be combined with {S[other]}")
    return value


def write_pairs(encoder: "Encoder", pairs: PairFormat, corpus: "Corpus") -> dict[str, Any]:
    """Encode the pairs of a corpus; returns the fields of its description that reading determines.

    Raises:
        CorpusError: the sources contain no such pairs.
    """
    source = pairs.read(corpus)
    try:
        sides = encode_pairs(encoder, source, source.name)
    except SingleTextError as error:
        remedy = "to make pairs from documents, use --pairs neighbours, in Python PairFormat('neighbours')"
        raise CorpusError(f"{marked(error)}; {remedy}") from None
    return {"decoding_errors": 0, "columns": {}, PAIR_SIDES: sides}


def encode_pairs(encoder: "Encoder", batches: Iterable[PairBatch], name: str) -> int:
    """Encode pairs of texts from the source `name`; returns the number of texts of a pair, 2 or 3."""
    sides = 2

    def blocks() -> Iterator[TextBlock]:
        nonlocal sides
        for batch in batches:
            texts = [batch.left, batch.right, *([] if batch.negatives is None else [batch.negatives])]
            sides = len(texts)
            tags = None if batch.ratings is None else [repr(float(rating)) for rating in batch.ratings]
            pairs = ["".join(f"{text.translate(LINE_BREAKS)}\n" for text in pair) for pair in zip(*texts, strict=True)]
            yield TextBlock.of_cells([pair.encode() for pair in pairs], tags)

    encoder.add(blocks(), name)
    return sides

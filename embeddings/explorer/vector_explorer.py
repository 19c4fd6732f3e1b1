"""JSON endpoints of the explorer page: neighbours, analogies, comparisons, concordance and map."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from embeddings.analysis.explanation import explain
from embeddings.analysis.keyword_in_context import concordance
from embeddings.analysis.stability_runs import StabilityRuns
from embeddings.corpora.reading.sources import total_size
from embeddings.errors import EmbeddingsError, SettingError
from embeddings.explorer.word_map import WordMap
from embeddings.models.model import Model
from embeddings.settings import Range
from embeddings.support.arrow import pa, pc
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.text_search.text_index import TextIndex


Top = Annotated[int, Range(ge=1, le=100)]
Rows = list[dict[str, Any]]
Source = TypeVar("Source")
MAX_TEXT = 1000  # characters of a text that are shown
MAX_ORIGINAL = 1 << 26  # bytes of a corpus that is read again for each word


@dataclass(frozen=True)
class VectorExplorer:
    """The explored vectors and, if given, their corpus and replicates.

    Arguments:
        name: how the page names the vectors.
        corpus, source: the encoded text that the vectors were trained on, and the model, if known, for evidence.
        replicates: for confidence intervals.
        is_documents: whether the vectors are those of documents, named by their tags.
        texts: texts to search.
    """

    vectors: Vectors
    map: WordMap
    name: str
    source: Model | Vectors | None = None
    corpus: "Corpus | None" = None
    replicates: StabilityRuns | None = None
    is_documents: bool = False
    texts: "TextIndex | None" = None
    lock: Any = field(default_factory=RLock)  # one search at a time uses all memory bandwidth

    def __post_init__(self) -> None:
        if not len(self.vectors):
            raise SettingError(f"{self.name} has no vectors to explore")
        if self.replicates is not None:
            self.replicates.check_vectors(self.vectors)

    @cached_property
    def folded_words(self) -> Any:
        """The words whatever their case, an Arrow array of bytes, which is made on first use."""
        with self.lock:
            # bytes, as words of other programs may hold lone surrogates, which Arrow's strings refuse
            folded = [word.casefold().encode("utf-8", "surrogatepass") for word in self.vectors.words]
            return pa.array(folded, pa.large_binary())

    def prepare(self) -> None:
        """Compute beforehand what the first answers need; errors are ignored, as the first request raises them."""
        try:
            self.neighbours(self.vectors.word_list.first(1)[0], 1)
            self.complete("a", 1)
        except EmbeddingsError:
            return

    def info(self) -> dict[str, Any]:
        """The properties of the explored vectors."""
        return {
            "name": self.name, "words": len(self.vectors), "dim": self.vectors.dim,
            "unit": "document" if self.is_documents else "word",
            "composes": self.vectors.compose is not None, "corpus": self.corpus is not None,
            "confidence": None if self.replicates is None else len(self.replicates.resamples),
            "texts": 0 if self.texts is None else len(self.texts),
            "map_words": self.map.size, "projection": self.map.projection,
            "example": max(self.vectors.word_list.first(300)[-200:], key=len),  # a long word is no function word
        }  # fmt: skip

    def complete(self, prefix: str | None = None, limit: Top = 10) -> dict[str, Any]:
        """The most frequent words with a prefix, whatever their case; none for an empty prefix."""
        key = (prefix or "").lstrip().casefold().encode("utf-8", "surrogatepass")
        rows = pc.indices_nonzero(pc.starts_with(self.folded_words, key))[:limit].to_pylist() if key else []
        return {"words": [self.vectors.words[row] for row in rows]}

    def describe(self, word: str) -> dict[str, Any]:
        """How a word was found: the spelling in the vocabulary, its rank by frequency and its count."""
        row = self.vectors.find(word)
        if row is None:
            return {"word": word, "typed": word, "row": None, "count": None}
        count = None if self.vectors.counts is None else int(self.vectors.counts[row])
        return {"word": self.vectors.words[row], "typed": word, "row": row, "count": count}

    def neighbours(self, word: str, top: Top = 10) -> dict[str, Any]:
        """The nearest words, with confidence where replicates are given."""
        word = self.spelling(word)
        with self.lock:
            if self.replicates is None or self.vectors.find(word) is None:
                nearest = self.vectors.most_similar(word, top=top)
                rows = [{"word": neighbour, "cosine": cosine} for neighbour, cosine in nearest]
            else:
                from embeddings.analysis.confidence import confident_neighbours  # imports scipy

                table = confident_neighbours(self.vectors, self.replicates, word, top=top)
                rows = [{"word": one.neighbour, **table.record(one)} for one in table]
            return {**self.describe(word), "neighbours": self.with_rows(rows)}

    def analogy(
        self, a: str, b: str, c: str, method: Literal["3cosadd", "3cosmul"] = "3cosadd", top: Top = 10
    ) -> dict[str, Any]:
        """The words that are to c as b is to a."""
        with self.lock:
            terms = [self.spelling(word) for word in (a, b, c)]
            answers = self.vectors.analogy(*terms, method=method, top=top)
            rows = [{"word": word, "score": score} for word, score in answers]
            return {"terms": [self.describe(word) for word in terms], "answers": self.with_rows(rows)}

    def compare(self, a: str, b: str, top: Annotated[int, Range(ge=1, le=1000)] = 50) -> dict[str, Any]:
        """Two words: cosine, ranks, and their shared `top` neighbours, by the sum of the two cosines."""
        with self.lock:
            a, b = self.spelling(a), self.spelling(b)
            known = all(word in self.vectors for word in (a, b))
            ranks = [self.vectors.rank(*pair) for pair in ((a, b), (b, a))] if known and a != b else [None, None]
            near_a, near_b = (dict(self.vectors.most_similar(word, top=top)) for word in (a, b))
            words = sorted(near_a.keys() & near_b, key=lambda word: (-near_a[word] - near_b[word], word))
            shared = self.with_rows([{"word": word, "a": near_a[word], "b": near_b[word]} for word in words])
            result: dict[str, Any] = {
                "a": self.describe(a), "b": self.describe(b), "cosine": self.vectors.similarity(a, b),
                "rank_of_b": ranks[0], "rank_of_a": ranks[1], "top": top, "shared": shared,
                "interval": None,
            }  # fmt: skip
            if self.replicates is not None and known:
                from embeddings.analysis.confidence import confident_similarity  # imports scipy

                result["interval"] = asdict(confident_similarity(self.vectors, self.replicates, a, b))
            return result

    def lines(self, word: str, other: str | None = None, lines: Top = 20) -> dict[str, Any]:
        """Lines of the corpus around a word, in the text of the sources unless reading it again takes long."""
        with self.lock:
            corpus = required(self.corpus, "--corpus")
            is_small = (total_size(corpus.sources) or MAX_ORIGINAL) < MAX_ORIGINAL
            result = concordance(corpus, word, other, lines=lines, width=60, context="line", original=is_small)
        return {"total": result.total, "lines": [asdict(line) for line in result.lines]}

    def evidence(self, a: str, b: str, top: Top = 10) -> dict[str, Any]:
        """The contexts that two words share in the corpus."""
        with self.lock:
            return asdict(explain(self.source, required(self.corpus, "--corpus"), a, b, top=top, width=60))

    def search(self, query: str, top: Top = 10) -> dict[str, Any]:
        """The texts that answer a query best: ids, scores, and parts of the text, with query words marked."""
        texts = required(self.texts, "--texts")
        with self.lock:
            hits = [
                {"id": hit["id"], "score": hit["score"], "parts": texts.marked(query, hit["text"][:MAX_TEXT])}
                for hit in texts.search(query, top=top)
            ]
        return {"hits": hits}

    def map_state(self, version: Annotated[int, Range(ge=0)] = 0) -> dict[str, Any]:
        """The progress of the map layout, and its points if newer than `version`."""
        return self.map.state(version)

    def spelling(self, word: str) -> str:
        """The word as it is, or else without spaces around it; vocabularies may contain such words."""
        return word if word in self.vectors else word.strip()

    def with_rows(self, rows: Rows) -> Rows:
        """Results with the row of each word, by which the map finds it."""
        return [{**row, "row": self.vectors.find(row["word"])} for row in rows]


def required(source: Source | None, option: str) -> Source:
    """A text or an index; raises SettingError if the command was started without the option."""
    if source is None:
        raise SettingError(f"the explorer has no texts for this: start it with {option}")
    return source


ENDPOINTS: dict[str, Callable[..., dict[str, Any]]] = {
    name: getattr(VectorExplorer, name)
    for name in ("info", "complete", "neighbours", "analogy", "compare", "lines", "evidence", "search")
} | {"map": VectorExplorer.map_state}

"""Going on with a model on new text: its vocabulary grows, and what it knows is where it was.

The counts of old and new text are added, and with them the noise and the sub-sampling of both. All old words stay;
words of the new text come in that occur `min_count` times there. Every table that belongs to the model goes on: rows
of old words are theirs, wherever these stand in the new order, and tables that are not of words (n-grams in
buckets, weights of positions) are taken whole. New words start at random, and so do documents, which are
those of the new text. The rate falls anew, from where the settings say.
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.text_settings import PHRASES
from embeddings.support.arrow_arrays import to_arrow, to_string_array
from embeddings.training.parameters import parameters

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus
    from embeddings.models.model import Model
    from embeddings.training.task import Task

WHOLE = ("ngrams", "positions")  # tables that are not of words
FRESH = ("documents",)
SHAPING = ("dim", "min_n", "max_n")  # settings that old rows depend on
READING = ("tokenizer", "case")  # settings of the corpus that its words depend on
NOTHING = "nothing"  # the row behind those of words, in some models


def continue_training(
    model: "Model",
    corpus: "Corpus | str | os.PathLike[str] | Iterable[Any]",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Any = None,
    **changes: Any,
) -> "Model":
    """The model gone on with, on new text and new words; by its own settings, but for the `changes`.

    What is no `Corpus` is read as the text of the model was. Further arguments and errors are those of `train`; and

    Raises:
        SettingError: the trainer cannot go on with a model, or a setting does not fit what it has learned.
        FormatError: a table of it is missing.
    """
    from embeddings.corpora import Corpus
    from embeddings.models.text_settings import continued_corpus_settings
    from embeddings.training.train import train

    check_model(model)
    text = corpus if isinstance(corpus, Corpus) else Corpus(corpus, **continued_corpus_settings(model))
    settings = {**model.settings, **changes}
    return train(model.name, text, threads=threads, seed=seed, report=report, continued=model, **settings)


def check_model(model: Any) -> None:
    """Refuse what is no model.

    Raises:
        SettingError: saying what is one.
    """
    from embeddings.models.model import Model

    if not isinstance(model, Model):
        raise SettingError(f"a Model is gone on with, such as embeddings.load_model gives, not {model!r:.80}")


def check(model: "Model", trainer: str, settings: Any) -> None:
    """Refuse a model that a trainer cannot go on with.

    Raises:
        SettingError: saying why.
    """
    if model.name != trainer:
        raise SettingError(f"a {model.name} model cannot be gone on with by {trainer}")
    if not getattr(settings, "can_continue", True):
        raise SettingError(f"{trainer} cannot go on with a model: what it learns is found in one text")
    for name in SHAPING:
        before, now = model.settings.get(name), getattr(settings, name, None)
        if before != now:
            raise SettingError(f"the model was trained with {name} {before}, which cannot become {now}")
    most = getattr(settings, "max_vocab", None)
    if most is not None and most < len(model.vocabulary):
        raise SettingError(f"max-vocab {most} is less than the {len(model.vocabulary)} words that the model has")


def extend_corpus(model: "Model", encoded: "EncodedCorpus", settings: Any) -> "EncodedCorpus":
    """The new text as numbers of the grown vocabulary, as long as this object lasts.

    Raises:
        CorpusError: no word of it is known or frequent.
        OutputError: it cannot be written.
    """
    from embeddings.corpora.corpus_cache.tempdir import new_folder
    from embeddings.corpora.encoded_corpus import EncodedCorpus
    from embeddings.corpora.remapping import remap
    from embeddings.support.cache_folder import cache_folder

    vocabulary = grown(model.vocabulary, encoded.vocabulary, min_count=settings.min_count, max_vocab=settings.max_vocab)
    with new_folder(cache_folder("corpora")) as scratch:
        remap(encoded, vocabulary, scratch)
    return EncodedCorpus(scratch, temporary=True)


def check_corpus(model: "Model", corpus: "Corpus") -> None:
    """Refuse text whose words are cut otherwise than those of the model, before it is read.

    Raises:
        SettingError: naming what differs; or the text has a vocabulary of its own.
    """
    if corpus.vocabulary is not None:
        raise SettingError("the vocabulary is that of the model, grown: the corpus can have none of its own")
    before = model.record.get("text")
    if not isinstance(before, dict):  # models of other programs do not say
        return
    for name in READING:
        if name in before and before[name] != corpus.settings.get(name):
            raise SettingError(f"the model learned from text read with {name} {before[name]!r}: read this so too")
    joined, joins = before.get(PHRASES), corpus.phrasing
    if joined is not None and joins is None:
        raise SettingError("the model learned from text with phrases as words: name the phrases for this text too")
    if isinstance(joined, dict) and joins is not None and joined.get("joiner") != joins.joiner:
        raise SettingError(
            f"the words of the model's phrases are joined by {joined.get('joiner')!r}: join these so too"
        )


def phrases_after(model: "Model | None", table: Any) -> Any:
    """The phrases of a model gone on with: those it had, and those of the new text, which has a table of them."""
    from embeddings.corpora.phrases.phrase_table import merge_phrase_tables

    return table if model is None else merge_phrase_tables(model.phrases, table)


def grown(old: Vocabulary, new: Vocabulary, *, min_count: int, max_vocab: int | None) -> Vocabulary:
    """The old words and the frequent new ones, most frequent first; counts and totals are added.

    The old words are no more than `max_vocab`, which `check` has seen to.
    """
    both = old.merge(new)
    known = places(old, both) >= 0
    fresh = np.flatnonzero(~known & (both.counts >= min_count))
    known[fresh if max_vocab is None else fresh[: max_vocab - len(old)]] = True
    kept = to_string_array(both.column).filter(to_arrow(known))
    return Vocabulary(kept, both.counts[known], total=both.total)


def places(old: Vocabulary, new: Vocabulary) -> np.ndarray:
    """For each word of the new vocabulary its place in the old one, -1 for those that are not there; int64."""
    import pyarrow.compute

    found = pyarrow.compute.index_in(to_string_array(new.column), value_set=to_string_array(old.column))
    rows: np.ndarray = pyarrow.compute.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return rows


def put(model: "Model", task: "Task", tables: Any) -> int:
    """Write what the model knows into tables as training starts; gives how many words are old.

    Raises:
        FormatError: a table of the model is missing, or does not fit.
        CorpusError: no word is old.
    """
    before = places(model.vocabulary, task.vocabulary)
    here = np.flatnonzero(before >= 0)
    if not len(here):
        raise CorpusError("the text and the model have no word in common")
    for name, table in parameters(tables).items():
        kept = model.tables.get(name, model.vectors.matrix if name == "words" else None)
        if name in FRESH or (kept is None and name in WHOLE):
            continue
        if kept is None:
            raise FormatError(f"the {model.name} model has no table {name!r}, and cannot be gone on with")
        if name in WHOLE:
            put_rows(name, table, kept, slice(None), slice(None))
        else:
            put_rows(name, table, kept, here, before[here], of=len(model.vocabulary))
            put_nothing(model, table, len(task.vocabulary))
    return len(here)


def put_rows(name: str, table: np.ndarray, kept: np.ndarray, goal: Any, source: Any, *, of: int | None = None) -> None:
    """Copy rows of a kept table, (rows, dim) or (rows, slots, dim), to those of one in training.

    Raises:
        FormatError: their shapes do not fit.
    """
    dim, slots = kept.shape[-1], kept.shape[1] if kept.ndim == 3 else 1
    flat = table.reshape(-1, padded(dim))
    rows = len(flat) // slots
    fits = len(kept) == (rows if of is None else of) and len(flat) == rows * slots and kept.ndim in (2, 3)
    if not fits or (of is not None and rows <= int(np.max(goal))):
        raise FormatError(f"the model's table {name!r} of shape {kept.shape} does not fit this run: other settings?")
    flat.reshape(rows, slots, padded(dim))[goal, :, :dim] = kept.reshape(len(kept), slots, dim)[source]


def put_nothing(model: "Model", table: np.ndarray, words: int) -> None:
    """Copy the row that stands where there is no word, for models that have one behind those of words."""
    row = model.tables.get(NOTHING)
    if row is not None and len(table) == words + 1:
        table[words, : row.shape[-1]] = row[0]


def rows_of(model: "Model | None", name: str) -> int | None:
    """How many rows a table of a model has; None without a model, or such a table."""
    table = None if model is None else model.tables.get(name)
    return None if table is None else len(table)

"""Continued training: a trained model learns from new text, and its vocabulary grows.

The counts of old and new text are added; the sums determine the noise distribution and subsampling. All old words stay.
Words of the new text are added if they occur `min_count` times there. Rows of old words keep their values at their new
positions; tables without a row for each word (n-gram buckets, position weights) are copied whole. New words, and the
documents of the new text, start at random. The learning rate starts again from its initial value.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.corpus_cache.tempdir import new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import remap
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.model import Model
from embeddings.models.text_settings import PHRASES
from embeddings.support.arrow_arrays import to_arrow, to_string_array
from embeddings.support.cache_folder import cache_folder
from embeddings.training.parameters import parameter_arrays

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.training.task import Task

SHARED_TABLES = ("ngrams", "positions")  # tables without a row for each word
NEW_TABLES = ("documents",)
FIXED_SETTINGS = ("dim", "min_n", "max_n")  # old rows depend on them
TEXT_SETTINGS = ("tokenizer", "case")  # the words of a corpus depend on them
EMPTY_ROW = "nothing"  # in some models, the row after those of words


def check_model(model: Any) -> None:
    """Refuse anything but a model."""
    if not isinstance(model, Model):
        raise SettingError(f"expected a Model, such as embeddings.load_model returns, got {model!r:.80}")


def check(model: Model, trainer: str, settings: Any) -> None:
    """Refuse a model that a trainer with these settings cannot continue."""
    if model.name != trainer:
        raise SettingError(f"cannot continue training a {model.name} model with trainer {trainer}")
    if not getattr(settings, "can_continue", True):
        raise SettingError(f"{trainer} models cannot be trained further: their vocabulary comes from one text")
    for name in FIXED_SETTINGS:
        old, new = model.settings.get(name), getattr(settings, name, None)
        if old != new:
            raise SettingError(f"{name} must be {old}, as in the model, got {new}")
    max_vocab = getattr(settings, "max_vocab", None)
    if max_vocab is not None and max_vocab < len(model.vocabulary):
        raise SettingError(
            f"max_vocab must be at least {len(model.vocabulary)}, the model's vocabulary size, got {max_vocab}"
        )


def check_corpus(model: Model, corpus: "Corpus") -> None:
    """Refuse a corpus whose text settings differ from the model's, before it is read."""
    if corpus.vocabulary is not None:
        raise SettingError("continued training uses the vocabulary of the model: the corpus must not set vocabulary")
    old = model.record.get("text")
    if not isinstance(old, dict):  # a model of another program
        return
    for name in TEXT_SETTINGS:
        new = corpus.settings.get(name)
        if name in old and old[name] != new:
            raise SettingError(f"{name} must be {old[name]!r}, as in the text of the model, got {new!r}")
    old_phrases, new_phrases = old.get(PHRASES), corpus.phrase_config
    if old_phrases is not None and new_phrases is None:
        raise SettingError("the model was trained with phrases: the corpus requires phrases too")
    if isinstance(old_phrases, dict) and new_phrases is not None and old_phrases.get("joiner") != new_phrases.joiner:
        raise SettingError(
            f"joiner must be {old_phrases.get('joiner')!r}, as in the phrases of the model, got {new_phrases.joiner!r}"
        )


def extend_corpus(model: Model, encoded: EncodedCorpus, settings: Any) -> EncodedCorpus:
    """The new text encoded with the extended vocabulary, in a temporary folder."""
    limits = {"min_count": settings.min_count, "max_vocab": settings.max_vocab}
    vocabulary = extend_vocabulary(model.vocabulary, encoded.vocabulary, **limits)
    with new_folder(cache_folder("corpora")) as folder:
        remap(encoded, vocabulary, folder)
    return EncodedCorpus(folder, temporary=True)


def extend_vocabulary(old: Vocabulary, new: Vocabulary, *, min_count: int, max_vocab: int | None) -> Vocabulary:
    """The old words and the frequent new ones, most frequent first, with added counts and totals."""
    merged_vocabulary = old.merge(new)
    is_selected = rows_in(old, merged_vocabulary) >= 0
    added_rows = np.flatnonzero(~is_selected & (merged_vocabulary.counts >= min_count))
    is_selected[added_rows if max_vocab is None else added_rows[: max_vocab - len(old)]] = True
    words = to_string_array(merged_vocabulary.column).filter(to_arrow(is_selected))
    return Vocabulary(words, merged_vocabulary.counts[is_selected], total=merged_vocabulary.total)


def rows_in(old: Vocabulary, new: Vocabulary) -> np.ndarray:
    """For each word of the new vocabulary its row in the old one, -1 if it has none; int64."""
    import pyarrow.compute

    rows = pyarrow.compute.index_in(to_string_array(new.column), value_set=to_string_array(old.column))
    return np.asarray(rows.fill_null(-1), np.int64)


def apply(model: Model, task: "Task", tables: Any) -> int:
    """Copy the tables of the model into those of a new run; returns the number of old words."""
    old_rows = rows_in(model.vocabulary, task.vocabulary)
    new_rows = np.flatnonzero(old_rows >= 0)
    if not len(new_rows):
        raise CorpusError("the corpus and the model have no word in common")
    for name, table in parameter_arrays(tables).items():
        saved = model.tables.get(name, model.vectors.matrix if name == "words" else None)
        if name in NEW_TABLES or (saved is None and name in SHARED_TABLES):
            continue
        if saved is None:
            raise FormatError(f"the {model.name} model has no table {name!r}, so it cannot be trained further")
        if name in SHARED_TABLES:
            copy_rows(name, table, saved, slice(None), slice(None))
            continue
        copy_rows(name, table, saved, new_rows, old_rows[new_rows], words=len(model.vocabulary))
        empty = model.tables.get(EMPTY_ROW)
        if empty is not None and len(table) == len(task.vocabulary) + 1:
            table[-1, : empty.shape[-1]] = empty[0]
    return len(new_rows)


def copy_rows(
    name: str, table: np.ndarray, saved: np.ndarray, to_rows: Any, from_rows: Any, *, words: int | None = None
) -> None:
    """Copy rows of a saved table, (rows, dim) or (rows, slots, dim), to one in training; `words` rows are expected."""
    dim, slots = saved.shape[-1], saved.shape[1] if saved.ndim == 3 else 1
    flat = table.reshape(-1, padded(dim))
    rows = len(flat) // slots
    fits = len(saved) == (rows if words is None else words) and len(flat) == rows * slots and saved.ndim in (2, 3)
    if not fits or (words is not None and rows <= int(np.max(to_rows))):
        raise FormatError(f"the model's table {name!r} of shape {saved.shape} does not fit the settings of this run")
    flat.reshape(rows, slots, padded(dim))[to_rows, :, :dim] = saved.reshape(len(saved), slots, dim)[from_rows]

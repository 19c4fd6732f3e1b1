"""Continued training: a trained model learns from new text, and its vocabulary grows.

The counts of old and new text are added; the sums determine the noise distribution and subsampling. All old words stay.
Words of the new text are added if they occur `min_count` times there. Rows of old words keep their values at their new
positions; other tables are copied whole or start again, as the trainer declares them. New words, and the documents of
the new text, start at random. The learning rate starts again from its initial value.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import recorded_settings
from embeddings.errors import CorpusError, FormatError, S, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.model import Model
from embeddings.models.table import VECTORS, Arrays, Table, zero_rows
from embeddings.models.text_settings import PHRASES
from embeddings.support.arrow import pc, to_arrow, to_string_array
from embeddings.training.plan import Plan
from embeddings.training.trainer_declaration import TrainerDeclaration

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus


def saved_table(model: Model, name: str, declared: Table) -> np.ndarray:
    """A table of a model as it was saved, float32 `declared.saved_shape`."""
    saved_as = declared.saved_as or name
    table = model.vectors.matrix if saved_as == VECTORS else model.tables.get(saved_as)
    if table is None and model.vectors.compact is not None:
        raise SettingError("a small model has no tables of contexts: use the model that it was made from")
    return checked_table(model, name, table, declared.saved_shape)


def checked_table(model: Model, name: str, table: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """A table of a model; raises FormatError unless it is a float32 table of this shape."""
    if table is None or table.shape != shape or table.dtype != np.float32:
        found = "missing" if table is None else f"{table.dtype} {table.shape}"
        problem = f"expected table {name!r} as float32 {shape}, got {found}"
        raise FormatError(f"the {model.name} model is broken or does not fit the settings of this run: {problem}")
    return table


def padded_rows(array: np.ndarray) -> np.ndarray:
    """Rows padded with zeros, read-only, (rows, padded dim); a view if they have that length already."""
    flat = array.reshape(-1, array.shape[-1])
    if flat.shape[1] == padded(flat.shape[1]):
        rows = np.asarray(flat).view()
    else:
        rows = zero_rows(*flat.shape)
        rows[:, : flat.shape[1]] = flat
    rows.flags.writeable = False
    return rows


def check_model(model: Model) -> None:
    """Refuse a model without tables for training."""
    if model.vectors.compact is not None:
        raise SettingError("a small model cannot be trained further: use the model that it was made from")


def check(model: Model, trainer: TrainerDeclaration) -> None:
    """Refuse a model that the trainer cannot continue."""
    if model.name != trainer.trainer_name:
        raise SettingError(f"cannot continue training a {model.name} model with trainer {trainer.trainer_name}")
    settings = asdict(trainer)
    if not trainer.can_continue:
        what = S.objective(settings["objective"]) if "objective" in settings else "these settings"
        reason = "" if "continued" in trainer.unsupported else f" with {what}"
        raise SettingError(f"{model.name} models cannot be trained further{reason}")
    for name in (*trainer.fixed_settings, "unknown_rows"):
        old = model.settings.get(name, settings.get(name))
        if name in settings and old != settings[name]:
            raise SettingError(f"{S[name]} must be {old}, as in the model, got {settings[name]}")
    max_vocab = settings.get("max_vocab")
    if max_vocab is not None and max_vocab < len(model.vocabulary):
        raise SettingError(
            f"{S.max_vocab} must be at least {len(model.vocabulary)}, the model's vocabulary size, got {max_vocab}"
        )


def check_corpus(model: Model, corpus: "Corpus") -> None:
    """Refuse a corpus whose text settings differ from the model's, before it is read."""
    if corpus.vocabulary is not None:
        raise SettingError(
            f"continued training uses the vocabulary of the model: the corpus must not set {S.vocabulary}"
        )
    old = model.record.get("text")
    if not isinstance(old, dict):  # a model of another program
        return
    text = recorded_settings(old) if "tokenizer" in old else {}
    settings, old_phrases = dict(corpus.rules.settings), old.get(PHRASES)
    if old_phrases is not None and corpus.phrase_config is None:
        raise SettingError("the model was trained with phrases: the corpus requires phrases too")
    if isinstance(old_phrases, dict) and corpus.phrase_config is not None:
        text["joiner"], settings["joiner"] = old_phrases.get("joiner"), corpus.phrase_config.joiner
    for name, new in settings.items():
        if text.get(name, new) != new:
            raise SettingError(f"{S[name]} must be {text[name]!r}, as in the text of the model, got {new!r}")


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
    rows = pc.index_in(to_string_array(new.column), value_set=to_string_array(old.column))
    return np.asarray(rows.fill_null(-1), np.int64)


def apply(model: Model, vocabulary: Vocabulary, plan: Plan, arrays: Arrays) -> int:
    """Copy the tables of the model into the tables of a new run; returns the number of old words."""
    old_rows = rows_in(model.vocabulary, vocabulary)
    new_rows = np.flatnonzero(old_rows >= 0)
    if not len(new_rows):
        raise CorpusError("the corpus and the model have no word in common")
    for name, table in plan.tables.items():
        if table.continuation == "refuse":
            raise SettingError(
                f"{model.name} models cannot be trained further: their table {name!r} belongs to one text"
            )
        if table.continuation == "restart":
            continue
        saved_name = plan.saved_name(name)
        saved = model.vectors.matrix if saved_name == VECTORS else model.tables.get(saved_name or "")
        item = table.saved_shape[1:]
        if table.continuation == "grow":
            saved = checked_table(model, name, saved, (len(model.vocabulary), *item))
            table.set_rows(arrays[name], new_rows, saved[old_rows[new_rows]])
        elif saved is not None:
            table.set_rows(arrays[name], slice(None), checked_table(model, name, saved, (table.rows, *item)))
    return len(new_rows)

"""Recorded text settings of a model, so that other texts are read as its training text was."""

from typing import TYPE_CHECKING, Any, Protocol

from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.word_rules import recorded_settings
from embeddings.errors import S, SettingError
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import check_value
from embeddings.support.foreign_files import format_errors

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

TEXT_SETTINGS = (*WORD_SETTINGS, "encoding_errors")  # settings of a corpus that decide how text becomes words
STRINGS = ("tokenizer", "case", "encoding_errors")  # those that every model has
LABEL_PREFIX = "label_prefix"  # in the record: the prefix of labels in the text, empty if they came from a table
READING = {  # in the record, where they differ from these defaults: how the training text was read
    "encoding": "utf-8", "text_column": None, "tag_column": None, "rows": None, "lines": "separate",
    "max_types": None,
}  # fmt: skip
PHRASES = "phrases"  # also in the record: how words were joined into phrases


class TrainedModel(Protocol):
    """What this module reads of a model."""

    name: str
    settings: dict[str, Any]
    record: dict[str, Any]
    phrases: Any
    labels: Any
    vectors: Any


def recorded_text_settings(model: TrainedModel) -> dict[str, Any]:
    """All text settings of a model, with defaults for unrecorded ones, and `PHRASES` if there were any."""
    with format_errors(f"the record 'text' of the {model.name} model"):
        text = model.record["text"]
        for name in STRINGS:
            check_value(name, text[name], str, {})
        if text.get(PHRASES) is not None:
            check_value("joiner", text[PHRASES]["joiner"], str, {})
        return {**text, **recorded_settings(text)}


def corpus_settings(model: TrainedModel) -> dict[str, Any]:
    """Settings of a `Corpus` that is read as the training corpus was.

    Phrases always replace their words; if they alternated, one text would change how another is read.
    """
    from embeddings.corpora.phrases.phrase_list import phrases_from_table  # imports numba

    text = recorded_text_settings(model)
    settings = {name: text[name] for name in TEXT_SETTINGS}
    if text.get(PHRASES) is None:
        return settings
    if model.phrases is None:
        raise SettingError(f"the {model.name} model was saved without its phrases: pass a Corpus with phrases")
    return {**settings, "phrases": phrases_from_table(model.phrases), "joiner": text[PHRASES]["joiner"]}


def reading_settings(model: TrainedModel) -> dict[str, Any]:
    """Settings of a `Corpus`, besides those of `corpus_settings`, with which the training text is read again."""
    reading = model.record.get("reading")
    return {name: reading[name] for name in READING if name in reading} if isinstance(reading, dict) else {}


def continued_corpus_settings(model: TrainedModel) -> dict[str, Any]:
    """Settings of a `Corpus` for continued training, which keep the phrase mode; empty without a record."""
    if not isinstance(model.record.get("text"), dict):  # a model of another program
        return {}
    labels = {} if model.labels is None else {"labels": LabelFormat(label_prefix(model) or PREFIX)}
    return corpus_settings(model) | phrase_settings(model) | labels


def label_prefix(model: TrainedModel) -> str:
    """The prefix of labels in the text of a model; empty if they came from tables."""
    return str(model.record.get(LABEL_PREFIX) or "")


def phrase_settings(model: TrainedModel) -> dict[str, Any]:
    """Settings of a `Corpus` about how phrases became tokens; empty if there were none."""
    phrases = recorded_text_settings(model).get(PHRASES)
    return {"joiner": phrases["joiner"], "phrase_mode": phrases.get("mode", "replace")} if phrases else {}


def check_same_text_settings(model: TrainedModel, encoded: "EncodedCorpus") -> None:
    """Refuse a corpus whose words follow other rules, or with another joiner, than the training corpus."""
    text, meta = recorded_text_settings(model), encoded.meta
    joiners = tuple((phrases or {}).get("joiner") for phrases in (text.get(PHRASES), meta.get(PHRASES)))
    pairs = {name: (text[name], meta["settings"].get(name)) for name in WORD_SETTINGS}
    for name, (expected, value) in (pairs | {"joiner": joiners}).items():
        if expected != value:
            raise SettingError(
                f"{S[name]} of the corpus must be {expected!r}, as in training, got {value!r}"
                + " (no phrases)" * (name == "joiner" and value is None)
            )


def model_settings(kind: type, model: TrainedModel) -> Any:
    """A class of settings, such as a trainer, with the recorded settings of a model, which must fit its vectors."""
    with format_errors(f"the {model.name} model"):
        settings: Any = kind(**model.settings)
        check_value("dim", settings.dim, int, {"ge": model.vectors.dim, "le": model.vectors.dim})  # kernels rely on it
        return settings

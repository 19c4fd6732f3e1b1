"""How the text that a model was trained on became words, so that others are read alike."""

from typing import TYPE_CHECKING, Any

from embeddings.errors import FormatError, SettingError

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus
    from embeddings.models.model import Model

TEXT = ("tokenizer", "case", "encoding_errors")  # settings of a corpus that say how a text becomes words
PHRASES = "phrases"  # one more: what became a token in spite of its parts


def recorded_text_settings(model: "Model") -> dict[str, Any]:
    """What a model's record says of how text became words: `TEXT`, and `PHRASES` if any were joined.

    Raises:
        FormatError: it does not.
    """
    text = model.record.get("text")
    if not isinstance(text, dict) or not all(isinstance(text.get(name), str) for name in TEXT):
        raise FormatError(f"the {model.name} model is broken: its record does not say how text was read")
    phrases = text.get(PHRASES)
    if phrases is not None and not (isinstance(phrases, dict) and isinstance(phrases.get("joiner"), str)):
        raise FormatError(f"the {model.name} model is broken: its record does not say how phrases were joined")
    return text


def corpus_settings(model: "Model") -> dict[str, Any]:
    """How the corpus that a model was trained on was read, as settings of a `Corpus`.

    Phrases always replace their words: that they alternate would let one text change what another becomes.

    Raises:
        FormatError: its record does not say, or its phrases are broken.
        SettingError: phrases were joined by a version that did not keep them.
    """
    from embeddings.corpora.phrases.phrase_table import phrases_from_table

    text = recorded_text_settings(model)
    read = {name: text[name] for name in TEXT}
    if text.get(PHRASES) is None:
        return read
    if model.phrases is None:
        raise SettingError(f"the {model.name} model does not have the phrases of its training: give a Corpus with them")
    return {**read, "phrases": phrases_from_table(model.phrases), "joiner": text[PHRASES]["joiner"]}


def continued_corpus_settings(model: "Model") -> dict[str, Any]:
    """Settings of a `Corpus` that go on reading as the text of the training was; none where its record does not say.

    Other than for texts of which each is to mean the same alone, phrases may alternate with their words.

    Raises:
        FormatError, SettingError: as `reading_of`.
    """
    if not isinstance(model.record.get("text"), dict):  # a model of another program
        return {}
    read = corpus_settings(model)
    return read | ({"phrase_words": phrase_settings(model)["phrase_words"]} if PHRASES in read else {})


def phrase_settings(model: "Model") -> dict[str, Any]:
    """How phrases became tokens, as settings of a `Corpus`; none if none were joined.

    Raises:
        FormatError: as `text_of`.
    """
    joined = recorded_text_settings(model).get(PHRASES)
    return {"joiner": joined["joiner"], "phrase_words": joined.get("words", "replace")} if joined else {}


def check_same_text_settings(model: "Model", encoded: "EncodedCorpus") -> None:
    """Refuse a corpus whose words are not cut, cased and joined as those that a model was trained on.

    Raises:
        SettingError: naming the setting.
        FormatError: as `text_of`.
    """
    text, meta = recorded_text_settings(model), encoded.meta
    trained, joined = (found or {} for found in (text.get(PHRASES), meta.get(PHRASES)))
    pairs = {name: (text[name], meta["settings"].get(name)) for name in ("tokenizer", "case")}
    pairs |= {"joiner": (trained.get("joiner"), joined.get("joiner"))}
    for name, (wanted, given) in pairs.items():
        if wanted != given:
            known = [f"{name} {value}" if value else "no phrases joined" for value in (given, wanted)]
            raise SettingError(f"the corpus is read with {known[0]}, and that of the training with {known[1]}")

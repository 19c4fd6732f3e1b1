"""Configuration of the phrases that become tokens of a corpus."""

import os
from dataclasses import dataclass
from pathlib import Path

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.phrases.detection import Phrases
from embeddings.corpora.phrases.join import join_phrases
from embeddings.corpora.phrases.phrase import PhraseMode, PhraseSource, check_joiner
from embeddings.corpora.phrases.phrase_list import PhraseList, read_phrases
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import S, SettingError
from embeddings.settings import check_value

AUTO = "auto"


@dataclass(frozen=True)
class PhraseConfig:
    """The source of phrases, the string between their words, and the mode of joining."""

    source: PhraseSource
    joiner: str
    mode: str

    @property
    def fingerprint(self) -> str:
        """A text that is equal if equal corpora give equal results."""
        return f"{self.source.fingerprint} {self.joiner} {self.mode}"

    def write(self, encoded: EncodedCorpus, folder: Path) -> None:
        """Write the corpus with phrases as tokens to a folder."""
        join_phrases(encoded, list(self.source.find(encoded)), folder, joiner=self.joiner, mode=self.mode)


def phrase_config(
    phrases: PhraseSource | str | os.PathLike[str], joiner: str, mode: str, form: WordForm
) -> PhraseConfig:
    """Return the configuration for detection settings, a list, a file, or "auto" unless a file has that name.

    Words of a list are converted to their `form` in the text.
    """
    check_joiner(joiner)
    check_value("phrase_mode", mode, PhraseMode, {})
    source: object = phrases
    if isinstance(phrases, str | os.PathLike):
        is_auto = str(phrases) == AUTO and not Path(phrases).exists()
        source = Phrases() if is_auto else read_phrases(phrases, joiner=joiner)
    if isinstance(source, PhraseList):
        source = source.map_words(form)
    if not isinstance(source, Phrases | PhraseList):
        raise SettingError(f"{S.phrases} must be Phrases, a PhraseList, a file or {AUTO!r}, got {phrases!r}")
    return PhraseConfig(source, joiner, mode)

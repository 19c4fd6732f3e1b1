"""Which phrases a corpus makes tokens of, and how."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from embeddings.corpora.phrases.application import apply, check_words
from embeddings.corpora.phrases.detection import Phrases
from embeddings.corpora.phrases.phrase_list import PhraseList, check_joiner, read
from embeddings.corpora.tokenizers import lowered
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

AUTO = "auto"


class Source(Protocol):
    """Where phrases come from: settings that find them, or a list."""

    @property
    def identity(self) -> str:
        """Equal for equal phrases in equal corpora."""

    def find(self, encoded: "EncodedCorpus") -> PhraseList:
        """The phrases for this corpus."""


@dataclass(frozen=True)
class Phrasing:
    """Phrases, the marks between their words, and what becomes of these."""

    source: Source
    joiner: str
    words: str

    @property
    def identity(self) -> str:
        """Equal for what gives equal corpora."""
        return f"{self.source.identity} {self.joiner} {self.words} kept"  # as they were not in earlier versions

    def write(self, encoded: "EncodedCorpus", folder: Path) -> None:
        """Write the corpus with phrases as tokens to a folder.

        Raises:
            CorpusError, OutputError: as `Phrases.find` and `applying.apply`.
        """
        apply(encoded, self.source.find(encoded), folder, joiner=self.joiner, words=self.words)


def phrasing(phrases: Source | str | os.PathLike[str], joiner: str, words: str, case: str) -> Phrasing:
    """The phrases of settings, of a list, of a file, or those that the default settings find for "auto".

    Listed ones are put in lower case with the text. A file wins over the name.

    Raises:
        FormatError: the file cannot be read, or a line is no phrase.
        SettingError: the joiner or `words` is not allowed, or `phrases` are nothing of these.
    """
    check_joiner(joiner)
    check_words(words)
    found: object = phrases
    if isinstance(phrases, str | os.PathLike):
        auto = str(phrases) == AUTO and not Path(phrases).exists()
        found = Phrases() if auto else read(phrases, joiner=joiner)
    if isinstance(found, PhraseList) and case == "lower":
        found = found.cased(lowered)
    if not isinstance(found, Phrases | PhraseList):
        raise SettingError(f"phrases must be Phrases, a PhraseList, a file or {AUTO!r}, not {phrases!r}")
    return Phrasing(found, joiner, words)

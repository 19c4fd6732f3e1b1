"""A word as a user types it, in the form that it has in the text of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from embeddings.corpora.tokenizers import lower_case


@dataclass(frozen=True)
class WordForm:
    """Converts a word, as typed, to its form in a text that was read with these settings.

    Arguments:
        settings: those of a `Corpus`, of which `case` matters.
        joiner: the string between the words of a phrase, which may then be typed with spaces; None without phrases.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    joiner: str | None = None

    def __call__(self, word: str) -> str:
        """Return the form of a word."""
        form = self.of_text(word)
        return form if self.joiner is None else self.joiner.join(form.split()) or form

    def of_text(self, text: str) -> str:
        """Return the form of a text, in which spaces stay."""
        return lower_case(text) if self.settings.get("case", "lower") == "lower" else text

    @classmethod
    def recorded(cls, text: Any) -> Self | None:
        """Return the conversion for the text settings in the record of a model; None if they are missing or broken."""
        if not isinstance(text, Mapping) or not isinstance(text.get("case"), str):
            return None
        phrases = text.get("phrases")
        joiner = phrases.get("joiner") if isinstance(phrases, Mapping) else None
        return cls(dict(text), joiner if isinstance(joiner, str) else None)

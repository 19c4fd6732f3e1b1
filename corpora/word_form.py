"""A word as a user types it, in the form that it has in the text of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from embeddings.corpora.word_rules import WordRules, recorded_rules
from embeddings.errors import SettingError


@dataclass(frozen=True)
class WordForm:
    """Converts a word, as typed, to its form in a text that was read with these settings.

    Arguments:
        settings: those of a `Corpus`, of which the ones in `WORD_SETTINGS` matter.
        joiner: the string between the words of a phrase, which may then be typed with spaces; None without phrases.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    joiner: str | None = None

    @cached_property
    def rules(self) -> WordRules:
        """The rules of the settings."""
        return recorded_rules(self.settings)

    def __call__(self, word: str) -> str:
        """Return the form of a word."""
        form = self.of_text(word)
        return form if self.joiner is None else self.joiner.join(form.split()) or form

    def of_text(self, text: str) -> str:
        """Return the form of a text, in which spaces stay."""
        return " ".join(word and self.rules.normalize_typed(word) for word in text.split(" "))

    def words(self, text: str) -> list[str]:
        """Return the words that a text consists of; the text itself unless a built-in tokenizer splits it."""
        if not self.rules.is_built_in:
            return [text]
        return self.rules.normalize_all(list(self.rules.tokenizer(text))) or [text]

    @classmethod
    def recorded(cls, text: Any) -> Self | None:
        """Return the conversion for the text settings in the record of a model; None if they are missing or broken."""
        if not isinstance(text, Mapping) or not isinstance(text.get("case"), str):
            return None
        phrases = text.get("phrases")
        joiner = phrases.get("joiner") if isinstance(phrases, Mapping) else None
        form = cls(dict(text), joiner if isinstance(joiner, str) else None)
        try:
            return form if form.rules else None
        except SettingError:
            return None

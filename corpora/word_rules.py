"""Rules by which text becomes words, recorded in models and applied to every word that a user types."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, Literal, Self
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import word_cleaning
from embeddings.corpora.tokenizers import (
    BUILT_IN,
    CharClassTokenizer,
    WordTokenizer,
    ascii_whitespace,
    lower_case,
    resolve_tokenizer,
)
from embeddings.errors import RegistryError, S, SettingError
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import check_value

Case = Literal["lower", "fold", "keep"]
Normalization = Literal["nfc", "nfkc", "none"]
Language = Literal["tr", "az", "lt", "el"]  # with rules of case
# values of the setting `fold`
FOLDINGS = ("accents", "width", "ligatures", "tatweel", "diacritics", "long-s", "arabic-letters")
TOKENIZER_SETTINGS = ("hyphens", "apostrophes", "emoji")  # of the tokenizer `words`
CHINESE = ("simplified", "traditional")  # foldings of an earlier version
# settings of records that were written when there were only a tokenizer and a case
EARLIER = {"normalize": "none", "fold": "", "language": None, **dict.fromkeys(TOKENIZER_SETTINGS)}
CONTEXTUAL = ((0x3C3, 0x3C3), (0x1160, 0x11FF))  # sigma at the end of words; Korean letters that are not initial
EARLIER_WORDS = "alphanumeric"
NORMALIZERS: dict[str, Callable[[str], str]] = {
    "nfc": partial(word_cleaning.normalized, "NFC"),
    "nfkc": partial(word_cleaning.normalized, "NFKC"),
    "none": str,
}


@dataclasses.dataclass(frozen=True)
class WordRules:
    """The rules by which text becomes words.

    Arguments:
        tokenizer: splits text into words.
        case: "lower" converts each code point to lower case, "fold" words by full case folding; "keep" neither.
        normalize: the normalisation form of words, "nfc" or "nfkc", or "none"; by default "nfc", except for the
            tokenizer "ascii-whitespace", which splits like fastText.
        fold: some of `FOLDINGS`, separated by commas, or as a sequence.
        language: "tr", "az", "lt" or "el", for its rules of case.
        hyphens, apostrophes, emoji: as for `WordTokenizer`; None for its defaults, or for another tokenizer.

    Raises:
        SettingError: a setting is not valid, or does not apply to the tokenizer.
        RegistryError: no tokenizer of that name is installed.
    """

    tokenizer: Any
    case: str = "lower"
    normalize: Any = None
    fold: Any = None
    language: str | None = None
    hyphens: str | None = None
    apostrophes: str | None = None
    emoji: str | None = None

    def __post_init__(self) -> None:
        check_value("case", self.case, Case, {})
        check_value("language", self.language, Language | None, {})
        tokenizer, foldings = resolve_tokenizer(self.tokenizer), check_foldings(self.fold or "")
        form = self.normalize or ("none" if tokenizer is ascii_whitespace else "nfc")
        check_value("normalize", form, Normalization, {})
        changes = {name: getattr(self, name) for name in TOKENIZER_SETTINGS if getattr(self, name) is not None}
        if isinstance(tokenizer, WordTokenizer):
            tokenizer = dataclasses.replace(tokenizer, **changes)
            changes = {name: getattr(tokenizer, name) for name in TOKENIZER_SETTINGS}
        elif changes:
            changed = " and ".join(S[name](value) for name, value in changes.items())
            raise SettingError(f"{changed} requires {S.tokenizer('words')}")
        if self.language in ("tr", "az") and self.case == "keep":
            raise SettingError(
                f"{S.language(self.language)} has rules of case only: it cannot be combined with {S.case('keep')}"
            )
        resolved = {"tokenizer": tokenizer, "normalize": form, "fold": ",".join(foldings)}
        for name, value in {**resolved, **changes}.items():
            object.__setattr__(self, name, value)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values; the tokenizer as a name."""
        tokenizer = self.tokenizer
        names = (getattr(tokenizer, name, None) for name in ("full_name", "name", "__qualname__"))
        name = next(filter(None, names), "a callable")
        return {"tokenizer": str(name), **{name: getattr(self, name) for name in WORD_SETTINGS[1:]}}

    @property
    def is_built_in(self) -> bool:
        """Whether the tokenizer is built in, so that its name and settings identify it."""
        return isinstance(self.tokenizer, WordTokenizer) or (
            isinstance(self.tokenizer, CharClassTokenizer) and self.tokenizer in BUILT_IN
        )

    @property
    def lower(self) -> Callable[[str], str] | None:
        """The function that changes the case of text before normalisation, by code point; None keeps the case."""
        return None if self.case == "keep" else case_function(self.language, self.normalize != "none")

    def normalize_words(self, text: str) -> str:
        """Normalise words, separated by line ends, as in the text of a corpus; ASCII is only converted to lower case.

        The number of words may change only if there are line ends in them.
        """
        text = text if self.lower is None else self.lower(text)
        if text.isascii():
            return text
        if isinstance(self.tokenizer, WordTokenizer):
            text = self.tokenizer.clean(text)
        result = self.change_characters(text)
        if result != text and isinstance(self.tokenizer, WordTokenizer | CharClassTokenizer):
            result = word_cleaning.join_blanks(result) if self.tokenizer(" ") == [] else result
        return result

    def change_characters(self, text: str) -> str:
        """Normalise, fold and change the case of words."""
        normalize = NORMALIZERS[self.normalize]
        text = normalize(text)
        for kind in filter(None, self.fold.split(",")):
            text = word_cleaning.fold(text, kind)
        if self.lower is not None:
            text = self.lower(text)
            text = text.casefold() if self.case == "fold" else text
            if self.normalize != "none":
                text = normalize(word_cleaning.remove_dots(text, self.language))
                if self.case == "lower" and "\u03c3" in text:
                    text = word_cleaning.FINAL_SIGMA.sub("ς", text)
        return word_cleaning.fold(text, "tonos") if self.language == "el" else normalize(text)

    def normalize_typed(self, word: str) -> str:
        """Normalise a word that a user types; characters that the tokenizer would remove from the word are dropped."""
        if isinstance(self.tokenizer, WordTokenizer) and not (word.isascii() and word.isalnum()):
            parts = list(self.tokenizer(word))
            word = parts[0] if len(parts) == 1 else word
        return self.normalize_one(word)

    def normalize_one(self, word: str) -> str:
        """Normalise one word, unless the result is empty."""
        return self.normalize_words(word) or word

    def normalize_all(self, words: list[str]) -> list[str]:
        """Normalise many words, each as `normalize_one` does."""
        new = self.normalize_words("\n".join(words)).split("\n")
        if len(new) != len(words):  # line ends in words
            return [*map(self.normalize_one, words)]
        return [word or before for word, before in zip(new, words, strict=True)]

    def may_change(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each code point of the Basic Multilingual Plane in `points` whether words with it may change."""
        characters = [*map(chr, points.tolist())]
        always = [char.isspace() or category(char)[0] in "MC" for char in characters]  # also format characters
        others = ["a" if skip else char for char, skip in zip(characters, always, strict=True)]
        words = [*others, *(f"a{char}a" for char in others)]
        changes = [new != old for new, old in zip(self.normalize_all(words), words, strict=True)]
        flags: NDArray[np.bool_] = np.reshape(changes, (2, len(points))).any(axis=0) | np.array(always, np.bool_)
        for first, last in CONTEXTUAL:
            flags |= (first <= points) & (points <= last)
        return flags

    @property
    def changes_nothing(self) -> bool:
        """Whether words stay as the tokenizer returns them."""
        return self.case == "keep" and self.normalize == "none" and not self.fold and self.language is None


def check_foldings(fold: str | Iterable[str]) -> list[str]:
    """Return the names of foldings in the order of `FOLDINGS`; raises SettingError for an unknown name."""
    names = [name.strip() for name in (fold.split(",") if isinstance(fold, str) else fold)]
    if {*filter(None, names)} - {*FOLDINGS}:
        remedy = "; convert Chinese text before it is read, for example by OpenCC" if {*CHINESE} & {*names} else ""
        raise SettingError(f"{S.fold} must be among {', '.join(FOLDINGS)}, got {', '.join(names)!r}{remedy}")
    return [name for name in FOLDINGS if name in names]


@cache
def case_function(language: str | None, single_i: bool) -> Callable[[str], str]:
    """Return a function to lower case, code point by code point; single_i: İ becomes i, not i with another dot."""
    if language in ("tr", "az"):
        return lambda text: lower_case(text.replace("İ", "i").replace("I", "\u0131"))
    return (lambda text: lower_case(text.replace("İ", "i"))) if single_i else lower_case


def recorded_settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the word settings of a record; settings that an old record lacks get the values of their time."""
    if "normalize" in record:
        return {name: record.get(name) for name in WORD_SETTINGS}
    settings = {"tokenizer": record.get("tokenizer"), "case": record.get("case", "lower"), **EARLIER}
    return settings | ({"tokenizer": EARLIER_WORDS} if settings["tokenizer"] == "words" else {})


def no_split(text: str) -> list[str]:
    """Return the text as one token."""
    return [text]


@dataclass(frozen=True)
class WordForm:
    """Converts a word, as typed, to its form in the text of a corpus.

    Arguments:
        settings: the settings of the `Corpus`; only those in `WORD_SETTINGS` matter.
        joiner: the string between the words of a phrase, which may then be typed with spaces; None without phrases.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    joiner: str | None = None

    @cached_property
    def rules(self) -> WordRules:
        """The rules of the settings; if the tokenizer is not installed, words are not split."""
        settings = recorded_settings(self.settings)
        try:
            return WordRules(**settings)
        except (RegistryError, SettingError):
            return WordRules(**settings | {"tokenizer": no_split})

    def __call__(self, word: str) -> str:
        """Return the form of a word."""
        form = self.of_text(word)
        return form if self.joiner is None else self.joiner.join(form.split()) or form

    def of_text(self, text: str) -> str:
        """Return the form of a text; spaces are not changed."""
        return " ".join(word and self.rules.normalize_typed(word) for word in text.split(" "))

    def words(self, text: str) -> list[str]:
        """Return the words of a text if the tokenizer is built in, else the whole text."""
        if not self.rules.is_built_in:
            return [text]
        return self.rules.normalize_all(list(self.rules.tokenizer(text))) or [text]

    @classmethod
    def recorded(cls, text: Any) -> Self | None:
        """Return the conversion for the recorded text settings of a model; None for missing or broken settings."""
        if not isinstance(text, Mapping) or not isinstance(text.get("case"), str):
            return None
        phrases = text.get("phrases")
        joiner = phrases.get("joiner") if isinstance(phrases, Mapping) else None
        form = cls(dict(text), joiner if isinstance(joiner, str) else None)
        try:
            return form if form.rules else None
        except SettingError:
            return None

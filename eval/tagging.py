"""How well frozen vectors tell parts of speech: logistic regression on the vectors around each word.

A window is the word's vector and those of the words beside it, side by side, each with two flags: there is no vector
for this word; here the sentence has no word. Where either is set the vector is zero. Vectors are first brought to mean
zero and to the unit matrix as covariance over the words of the training text, so that no turning or stretching of
them, only what they tell, decides the outcome. The classifier sees nothing else: no spelling, no case, no other tags.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError
from embeddings.eval.conllu import Tagged, TaggingSet
from embeddings.eval.item_scores import Shares
from embeddings.eval.results import Key
from embeddings.eval.window_classifier import STOPPED, Windows, learn, whitened
from embeddings.eval.word_matching import look_up
from embeddings.vectors.vectors import Vectors

WINDOW = 2
WIDEST = 50
PROTOCOL = (
    "logistic regression (L2 penalty, C = 1) on the word's vector and those of {window} words to either side, whitened "
    "over the training words; a word is looked up as it stands, then in lower case, and has zeros and a flag if there "
    "is no vector; the value is over all words, those without a vector too; of classes that tie the first by name; "
    "interval: bootstrap over sentences"
)


def check_window(window: int) -> int:
    """The window itself.

    Raises:
        SettingError: it is below 0 or above `WIDEST`.
    """
    if not 0 <= window <= WIDEST:
        raise SettingError(f"window must be at least 0 and at most {WIDEST}, not {window}")
    return window


def tagging(vectors: Vectors, test: TaggingSet, *, name: str, window: int = WINDOW) -> list[Shares]:
    """Which words of the test text get the right tag: by tag, with a vector, without one, and all (section None).

    Arguments:
        window: words on either side.

    Raises:
        SettingError: the window, or a vector holds NaN or infinity.
    """
    check_window(window)
    words = Lookup.of(vectors, test)
    known = sorted(set(test.train.tags))
    tags = known + sorted(set(test.test.tags) - set(known))
    number = {tag: place for place, tag in enumerate(tags)}
    learned = np.array([number[tag] for tag in test.train.tags])
    asked = np.array([number[tag] for tag in test.test.tags])
    seen = words.known[words.rows(test.test)]
    key = Key(test.name, "accuracy", method=f"window {window}")
    reason = words.reason(test)
    note = None
    if reason is None:
        classifier = learn(words.windows(test.train, window), learned, len(known))
        right = classifier.predict(words.windows(test.test, window)) == asked
        note = None if classifier.converged else STOPPED
    else:
        right = np.zeros(len(asked), dtype=bool)
    whole = Shares(
        vectors=name, key=key, right=right, seen=seen, members=np.ones(len(asked), dtype=bool), every=True,
        clusters=test.test.sentence_of, protocol=PROTOCOL.format(window=window), reason=reason, note=note,
    )  # fmt: skip
    told = np.array(test.test.tags)
    sections = {tag: told == tag for tag in tags}
    sections |= {"words with a vector": seen, "words without": ~seen}
    parts = [whole.section(section, members, detail=section in tags) for section, members in sections.items()]
    return [*(part for part in parts if part.members.any()), whole]


@dataclass(frozen=True)
class Lookup:
    """The distinct words of a set, with their vectors: `place` of each, `matrix` (words, dim), `known` (words,)."""

    place: dict[str, int]
    matrix: np.ndarray
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, vectors: Vectors, test: TaggingSet) -> "Lookup":
        """What the vectors hold of both texts, whitened over the training text."""
        place = {word: row for row, word in enumerate(dict.fromkeys(test.train.words + test.test.words))}
        matrix, known = look_up(vectors, place)
        rows = [place[word] for word in test.train.words]
        counts = np.bincount(rows, minlength=len(place)) * known
        return cls(place, whitened(matrix, counts) * known[:, None].astype(np.float32), known)

    def rows(self, text: Tagged) -> NDArray[np.int64]:
        """The place of each word, (words,)."""
        return np.array([self.place[word] for word in text.words], dtype=np.int64)

    def reason(self, test: TaggingSet) -> str | None:
        """Why nothing can be learned or judged; None if it can."""
        for text, what in ((test.train, "training text"), (test.test, "test text")):
            if not self.known[self.rows(text)].any():
                return f"no word of the {what} has a vector"
        return None

    def windows(self, text: Tagged, window: int) -> Windows:
        """The window of each word; the last row of the table stands for what is outside of a sentence."""
        outside = len(self.matrix)
        flags = np.zeros((outside + 1, 2), dtype=np.float32)
        flags[:outside, 0], flags[outside, 1] = ~self.known, 1
        table = np.hstack([np.vstack([self.matrix, np.zeros_like(self.matrix[:1])]), flags])
        sentence = np.pad(text.sentence_of, window, constant_values=-1)
        rows = np.pad(self.rows(text), window, constant_values=outside)
        items = np.arange(len(text.words))[:, None] + np.arange(2 * window + 1)
        same = sentence[items] == text.sentence_of[:, None]
        return Windows(table, np.where(same, rows[items], outside))

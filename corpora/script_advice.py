"""Advice for text in scripts without spaces that was split by spaces."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from embeddings.corpora.segmenters import Segmenter, fugashi, jieba, pythainlp
from embeddings.corpora.vocabulary import Vocabulary

MAX_WORDS = 50_000  # most frequent words that are examined
MIN_SHARE = 0.1  # of the characters of these words, in a script
SPLIT_BY_SPACES = ("words", "alphanumeric", "whitespace", "ascii-whitespace")  # tokenizers


@dataclass(frozen=True)
class Script:
    """A script without spaces between words, and the range of the mean length of its words, in code points.

    distinctive: characters that make up at least MIN_SHARE of text in the script; None if there is no such condition.
    """

    name: str
    characters: re.Pattern[str]
    shortest: float
    longest: float
    segmenters: tuple[Segmenter, ...] = ()
    distinctive: re.Pattern[str] | None = None


KANA = re.compile("[\u3040-\u30ff]")
HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
FIRST_CHARACTER = "\u0e00"  # the lowest code point of the scripts below
SCRIPTS = (
    Script("Japanese", HAN_OR_KANA, 1.2, 4, (fugashi,), KANA),
    Script("Chinese", HAN_OR_KANA, 1.2, 4, (jieba,)),
    Script("Thai", re.compile("[\u0e00-\u0e7f]"), 2, 12, (pythainlp,)),
    Script("Lao", re.compile("[\u0e80-\u0eff]"), 2, 12),
    Script("Khmer", re.compile("[\u1780-\u17ff]"), 2, 12),
    Script("Burmese", re.compile("[\u1000-\u109f]"), 2, 12),
)  # fmt: skip


def script_advice(vocabulary: Vocabulary, tokenizer: str) -> str | None:
    """Return advice for a corpus whose words are too long or too short for their script; None for other corpora."""
    if tokenizer not in SPLIT_BY_SPACES or not len(vocabulary):
        return None
    words, counts = vocabulary.column[:MAX_WORDS].to_pylist(), vocabulary.counts[:MAX_WORDS]
    candidates = [row for row, word in enumerate(words) if word >= FIRST_CHARACTER]
    if not candidates:
        return None
    lengths = np.array(list(map(len, words)))
    total = (lengths * counts).sum()
    for script in SCRIPTS:
        rows: Any = [row for row in candidates if script.characters.match(words[row])]
        if not rows or (lengths[rows] * counts[rows]).sum() < MIN_SHARE * total:
            continue
        text = "".join(words[row] for row in rows)
        if script.distinctive and len(script.distinctive.findall(text)) < MIN_SHARE * len(text):
            continue
        mean = np.average(lengths[rows], weights=counts[rows])
        if not script.shortest <= mean <= script.longest:
            installed = [f"the tokenizer {one.name}, " for one in script.segmenters if one.is_installed]
            install = "the tokenizer {0} (pip install 'embeddings-toolkit[{0}]'), "
            remedies = installed or [install.format(one.name) for one in script.segmenters]
            return (
                f"words in {script.name} average {mean:.1f} characters, because there are no spaces between words: use "
                f"{''.join(remedies)}the tokenizer characters, or the trainer sembei"
            )
    return None

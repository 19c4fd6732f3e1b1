"""Which part of speech a word has: the bundled lexicon of English, or a file of words and tags."""

import os
from functools import cache
from pathlib import Path

from embeddings.corpora.tokenizers import lowered
from embeddings.errors import FormatError

ENGLISH = Path(__file__).parent / "english-tags.tsv"
UNIVERSAL = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
# the tags of the Penn Treebank that say the same
PENN = {
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    "DT": "DET",
}

Lexicon = dict[str, str]


@cache
def english() -> Lexicon:
    """The bundled lexicon: English words in lower case, learned from UD English EWT."""
    return read(ENGLISH)


def read(path: str | os.PathLike[str]) -> Lexicon:
    """The tag of each word of a file of lines `word TAB tag`, universal tags or those of the Penn Treebank.

    A word has its tag in lower case too, as most text is read, unless that has one of its own.

    Raises:
        FormatError: the file cannot be read, is not UTF-8 or holds no words, or a line is not a word and a tag.
    """
    path = Path(path)
    found: Lexicon = {}
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise FormatError(f"{path} cannot be read as a lexicon: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}, and no lexicon") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            word, _, tag = (part.strip() for part in line.partition("\t"))
            tag = PENN.get(tag, tag)
            if not word or tag not in UNIVERSAL:
                raise FormatError(f"{path}, line {number}: a word, a tab and a tag such as NOUN, not {line!r:.80}")
            found[word] = tag
    if not found:
        raise FormatError(f"{path} holds no words")
    return {lowered(word): tag for word, tag in found.items()} | found


def tag_of(word: str, lexicon: Lexicon) -> str | None:
    """The tag of a word as it stands, or else in lower case; None if it has none."""
    return lexicon.get(word) or lexicon.get(lowered(word))

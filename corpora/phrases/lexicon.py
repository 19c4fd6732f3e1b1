"""Parts of speech of words: the bundled English lexicon, or a file of words and tags."""

import os
from functools import cache
from pathlib import Path

from embeddings.corpora.tokenizers import lower_case
from embeddings.errors import FormatError
from embeddings.support.text_lines import read_text_lines

ENGLISH = Path(__file__).parent / "english-tags.tsv"
UNIVERSAL_TAGS = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
PENN_TAGS = {  # of the Penn Treebank, with their universal equivalents
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    "DT": "DET",
}

Lexicon = dict[str, str]


@cache
def english_lexicon() -> Lexicon:
    """Return the bundled lexicon: lower-case English words, learned from UD English EWT."""
    return read_lexicon(ENGLISH)


def read_lexicon(path: str | os.PathLike[str]) -> Lexicon:
    """Read a file of lines `word TAB tag`, with universal or Penn Treebank tags.

    The tag of a word is also used for the word in lower case, unless that has its own.
    """
    path = Path(path)
    tags: Lexicon = {}
    for number, line in enumerate(read_text_lines(path, "lexicon"), 1):
        if line.strip():
            word, _, tag = (part.strip() for part in line.partition("\t"))
            tag = PENN_TAGS.get(tag, tag)
            if not word or tag not in UNIVERSAL_TAGS:
                raise FormatError(
                    f"{path}, line {number}: expected a word, a tab and a tag such as NOUN, got {line!r:.80}"
                )
            tags[word] = tag
    if not tags:
        raise FormatError(f"{path} contains no words")
    return {lower_case(word): tag for word, tag in tags.items()} | tags


def tag_of(word: str, lexicon: Lexicon) -> str | None:
    """Return the tag of a word, or else of its lower case; None if it has none."""
    return lexicon.get(word) or lexicon.get(lower_case(word))

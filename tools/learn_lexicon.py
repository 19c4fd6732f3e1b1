"""Learn a lexicon of parts of speech from treebanks in CoNLL-U.

`python tools/learn_lexicon.py FILE TREEBANK...` writes the tags that phrase types use. The bundled English lexicon was
written by it (see corpora/phrases/README.md).
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow

from embeddings.corpora.phrases.pos_types import TAGS, Lexicon

N_FIELDS = 10


def learn(lines: Iterable[str]) -> Lexicon:
    """Return the most frequent tag of each lower-cased word, if it is one that phrase types use.

    Of equally frequent tags the first by name is used. Words with characters other than letters are skipped, and single
    letters unless they are determiners, as most are abbreviations or list items.
    """
    counts_by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        fields = line.split("\t")
        if len(fields) == N_FIELDS and fields[0].isdigit() and fields[1].isalpha():
            counts_by_word[fields[1].lower()][fields[3]] += 1
    best = {word: min(counts, key=lambda tag: (-counts[tag], tag)) for word, counts in counts_by_word.items()}
    return {word: tag for word, tag in sorted(best.items()) if tag in TAGS and (len(word) > 1 or tag == "DET")}


def main(arguments: Sequence[str]) -> None:
    """Learn a lexicon from CoNLL-U files, which may be compressed, and write it to the first path."""
    out, *treebanks = arguments
    texts = (pyarrow.input_stream(path).read().decode("utf-8") for path in treebanks)
    lexicon = learn(line for text in texts for line in text.split("\n"))
    text = "".join(f"{word}\t{tag}\n" for word, tag in lexicon.items())
    Path(out).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

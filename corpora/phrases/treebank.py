"""Learn a lexicon of parts of speech from treebanks in CoNLL-U.

`python -m embeddings.corpora.phrases.treebank TREEBANK... -o FILE` writes what types of phrases ask for; the English
lexicon that is bundled was made so (see README.md beside it).
"""

from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from embeddings.corpora.phrases.lexicon import Lexicon
from embeddings.corpora.phrases.pos_types import TAGS
from embeddings.support.files import replacing

FIELDS = 10


def learn(lines: Iterable[str]) -> Lexicon:
    """The most frequent tag of each word of a treebank, lower-cased, where it is one that types of phrases ask for.

    Of tags as frequent the first by name. Words that are not letters alone are passed over, and single letters that
    are no determiners, for most of these abbreviate or list something.
    """
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        fields = line.split("\t")
        if len(fields) == FIELDS and fields[0].isdigit() and fields[1].isalpha():
            tags[fields[1].lower()][fields[3]] += 1
    best = {word: min(counts, key=lambda tag: (-counts[tag], tag)) for word, counts in tags.items()}
    return {word: tag for word, tag in sorted(best.items()) if tag in TAGS and (len(word) > 1 or tag == "DET")}


def lines_of(paths: Sequence[str]) -> Iterator[str]:
    """The lines of files, compressed or not."""
    import pyarrow

    for path in paths:
        with pyarrow.input_stream(path) as stream:
            yield from stream.read().decode("utf-8").split("\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn a lexicon and write it."""
    parser = ArgumentParser(description="Learn a lexicon of parts of speech from treebanks.")
    parser.add_argument("treebank", nargs="+", help="CoNLL-U files, compressed or not, told by their endings")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    given = parser.parse_args(arguments)
    learned = learn(lines_of(given.treebank))
    with replacing(given.out, force=given.force) as fresh:
        text = "".join(f"{word}\t{tag}\n" for word, tag in learned.items())
        fresh.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

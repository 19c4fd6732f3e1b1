"""Pairs of two-word phrases rated by people, in the format of Mitchell and Lapata (2010)."""

import os
from dataclasses import dataclass
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.eval.datasets.dataset_files import line_error, read_lines, set_name
from embeddings.eval.datasets.word_pairs import to_number

WORDS = ("s1lemma1", "s1lemma2", "s2lemma1", "s2lemma2")
COLUMNS = ("participant", "type", *WORDS, "rating")
# Our names of the types of the published set, and whether its phrases have the second word first.
TYPES = {
    "adjectivenouns": ("adjective-noun", False),
    "compoundnouns": ("noun-noun", False),
    "verbobjects": ("verb-object", True),
}
PhrasePair = tuple[str, str, str, str]  # two phrases of two words


@dataclass(frozen=True)
class PhraseRatings:
    """The ratings of each participant, by type and pair of phrases."""

    name: str
    ratings: dict[str, dict[PhrasePair, dict[str, float]]]


def read_phrase_ratings(path: str | os.PathLike[str]) -> PhraseRatings:
    """Rated phrases: a heading, then fields separated by white space.

    The columns are participant, type, s1lemma1, s1lemma2, s2lemma1, s2lemma2 and rating; others are ignored. The
    published verb-object phrases are written object first, and are reversed.
    """
    rows = read_lines(Path(path))
    heading = next(rows, (0, ""))[1].split()
    if missing := [column for column in COLUMNS if column not in heading]:
        raise FormatError(f"{path} is not a set of rated phrases: its heading lacks the columns {', '.join(missing)}")
    ratings: dict[str, dict[PhrasePair, dict[str, float]]] = {}
    for number, line in rows:
        fields = dict(zip(heading, line.split(), strict=False))
        rating = to_number(fields.get("rating", ""))
        if len(line.split()) != len(heading) or rating is None:
            raise line_error(Path(path), number, f"{len(heading)} fields with a numeric rating", line)
        type, is_reversed = TYPES.get(fields["type"], (fields["type"], False))
        a, b, c, d = (fields[word] for word in WORDS)
        raters = ratings.setdefault(type, {}).setdefault((b, a, d, c) if is_reversed else (a, b, c, d), {})
        if fields["participant"] in raters:
            raise FormatError(f"{path}, line {number}: participant {fields['participant']} rates this pair twice")
        raters[fields["participant"]] = rating
    if not ratings:
        raise FormatError(f"{path} contains no rated phrases")
    return PhraseRatings(set_name(path), ratings)

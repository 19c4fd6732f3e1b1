"""Classes of characters: white space and lower case."""

import sys

import numpy as np
import pytest

from embeddings.corpora import scanner_tables, tokenizers, word_break


@pytest.mark.parametrize("limit", word_break.LIMITS)
def test_lower_case_equals_str_lower_for_every_code_point(limit):
    table = scanner_tables.lower(limit)
    mask = (1 << scanner_tables.PAIR) - 1
    written = [chr(pair & mask) + (chr(pair >> scanner_tables.PAIR) if pair > mask else "") for pair in table.tolist()]
    assert {hex(point): text for point, text in enumerate(written) if text != chr(point).lower()} == {}
    assert len(written) == limit


def test_white_space_equals_that_of_str_split():
    expected = [hex(point) for point in range(sys.maxunicode + 1) if chr(point).isspace()]
    limit = word_break.LIMITS[-1]
    for classes in (scanner_tables.char_classes(tokenizers.whitespace, limit), word_break.word_classes(limit)):
        assert [*map(hex, np.flatnonzero(classes == word_break.SPACE))] == expected


def test_characters_of_written_tokens_are_those_of_the_rule():
    limit = word_break.LIMITS[-1]
    points = [*range(0x3000), *range(0x1F000, 0x1F100), limit - 1]
    inside = scanner_tables.char_classes(tokenizers.written, limit)[points] == word_break.LETTER
    assert inside.tolist() == [tokenizers.is_written(chr(point)) for point in points]

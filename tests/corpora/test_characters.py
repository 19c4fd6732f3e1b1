"""Classes of characters: white space and lower case."""

import sys

import numpy as np
import pytest

from embeddings.corpora import characters, tokenizers, word_break


@pytest.mark.parametrize("limit", word_break.LIMITS)
def test_lower_case_equals_str_lower_for_every_code_point(limit):
    table = characters.lower(limit)
    mask = (1 << characters.PAIR) - 1
    written = [chr(pair & mask) + (chr(pair >> characters.PAIR) if pair > mask else "") for pair in table.tolist()]
    assert {hex(point): text for point, text in enumerate(written) if text != chr(point).lower()} == {}
    assert len(written) == limit


def test_white_space_equals_that_of_str_split():
    expected = [hex(point) for point in range(sys.maxunicode + 1) if chr(point).isspace()]
    limit = word_break.LIMITS[-1]
    for classes in (characters.char_classes(tokenizers.whitespace, limit), word_break.word_classes(limit)):
        assert [*map(hex, np.flatnonzero(classes == word_break.SPACE))] == expected

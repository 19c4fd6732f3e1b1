"""Token ids of batches of texts."""

import numpy as np
import pytest

from embeddings.corpora.scanner import MAX_TOKEN
from embeddings.corpora.text_scanner import ItemScanner
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import CorpusError


def test_a_scanner_scans_other_texts_after_a_token_that_is_too_long():
    scanner = ItemScanner(WordRules("whitespace"))
    long = b"a" * (MAX_TOKEN + 1) + b" b"
    with pytest.raises(CorpusError, match="a token is longer than"):
        scanner.scan(long, np.array([0, len(long)]))
    ids, starts = scanner.scan(b"x yx", np.array([0, 3, 4]))
    assert starts.tolist() == [0, 2, 3]
    assert ids[0] == ids[2] != ids[1]

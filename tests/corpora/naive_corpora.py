"""Slow, obvious twins of the corpus code, and helpers to run the fast one."""

import tempfile
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from naive_words import word_tokens

from embeddings.corpora import Corpus, EncodedCorpus
from embeddings.corpora.phrases.join import join_phrases
from embeddings.corpora.reading.tag_arrays import string_lists
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.word_rules import WordRules


def cells_block(cells):
    """Rows with these texts, in UTF-8."""
    return TextBlock(b"".join(cells), np.cumsum([len(cell) for cell in cells], dtype=np.int64))


def tokens_block(lists):
    """Rows with these lists of tokens."""
    return TextBlock(b"", (), token_lists=string_lists(lists))


def naive_tokens(line, tokenizer, case):
    """Tokens by one character after the other, then normalised."""
    rules = WordRules(tokenizer, case)
    return [rules.normalize_one(token) for token in raw_tokens(line, tokenizer)]


def raw_tokens(line, tokenizer):
    if tokenizer == "words":
        return word_tokens(line)
    tokens, token = [], ""
    for character in line + " ":
        is_word = unicodedata.category(character)[0] in ("L", "M", "N")
        if is_word if tokenizer == "alphanumeric" else not character.isspace():
            token += character
        elif token:
            tokens.append(token)
            token = ""
    return tokens


def naive_lines(text):
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def naive_starts(lines):
    """The lines at which the documents of one file start."""
    full = [bool(line.strip()) for line in lines]
    return [i for i, line in enumerate(full) if line and (not any(full[:i]) or not full[i - 1])]


def naive_file(text, tokenizer="words", case="lower"):
    """Sentences as token lists, and documents as lists of sentences, of one file."""
    lines = naive_lines(text.removeprefix("\ufeff"))
    sentences = [naive_tokens(line, tokenizer, case) for line in lines]
    starts = [0, *naive_starts(lines)[1:], len(lines)]
    return sentences, starts


def naive_vocabulary(sentences):
    """Words and counts by count, then by word."""
    counts = Counter(token for sentence in sentences for token in sentence)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def decoded(encoded):
    """Sentences as token lists, from the numbers."""
    words = encoded.vocabulary.words
    tokens = [words[i] for i in encoded.ids.tolist()]
    bounds = encoded.sentences.tolist()
    return [tokens[start:end] for start, end in pairwise(bounds)]


def encode(*sources, block_size=1 << 18, **settings):
    """An encoded corpus in a folder of its own: no cache is asked."""
    folder = Path(tempfile.mkdtemp())
    Corpus(*sources, **settings).write_text(folder, None, block_size=block_size)
    return EncodedCorpus(folder, temporary=True)


def joined(encoded, phrases, **options):
    """The encoded corpus with phrases as tokens."""
    folder = Path(tempfile.mkdtemp())
    join_phrases(encoded, phrases.phrases, folder, **options)
    return EncodedCorpus(folder, temporary=True)


def check(encoded, sentences, documents=None):
    """The encoded corpus says what these token lists say."""
    assert decoded(encoded) == sentences
    assert encoded.sentences[0] == 0
    pairs = naive_vocabulary(sentences)
    assert list(zip(encoded.vocabulary.words, encoded.vocabulary.counts.tolist(), strict=True)) == pairs
    if documents is not None:
        assert encoded.documents.tolist() == documents

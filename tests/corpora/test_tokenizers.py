"""The tokenizer `characters`: the compiled form, the Python form and a reference agree."""

import sys
import tempfile
import unicodedata
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.tokenizers import characters

CHARACTERS = "aB \n\r\t\u0301\u0130\u03a3\u0915\u093f\ufe0f\u200d\u3000\u4e2d\U0001f600\0"
OTHERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x01")  # which is a space for a callable
TEXT = st.text(st.one_of(st.sampled_from(CHARACTERS), OTHERS), max_size=20)


def naive(line):
    """Each character except white space, with the marks after it."""
    tokens, before = [], " "
    for character in line:
        if not character.isspace():
            if unicodedata.category(character).startswith("M") and not before.isspace():
                tokens[-1] += character.lower()
            else:
                tokens.append(character.lower())
        before = character
    return tokens


@settings(deadline=None, max_examples=50)
@given(text=TEXT, size=st.sampled_from([1, 2, 3, 5, 1 << 18]))
def test_characters_equal_the_reference(text, size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f")
        path.write_bytes(f"{text}\nend".encode())
        expected = [naive(line) for line in f"{text}\nend".removeprefix("\ufeff").split("\n")]
        for tokenizer in ("characters", lambda line: characters(line)):
            with encode(path, tokenizer=tokenizer, normalize="none", block_size=size) as encoded:
                assert decoded(encoded) == expected


def test_every_code_point(tmp_path):
    lines = [f"x{chr(point)}y" for point in range(0, sys.maxunicode + 1, 11) if not 0xD800 <= point < 0xE000]
    (tmp_path / "f").write_bytes("\n".join(lines).encode())
    with encode(tmp_path / "f", tokenizer="characters", normalize="none") as encoded:
        assert decoded(encoded) == [naive(line) for line in lines]


def test_an_installed_tokenizer_is_found_by_name(tmp_path, install):
    source = "def cut(line):\n    return [line[i : i + 2] for i in range(0, len(line), 2)]\n"
    install("pairs", "pairs = pairs_module:cut", source, group="embeddings.tokenizers")
    (tmp_path / "f").write_text("abcd\ne")
    with encode(tmp_path / "f", tokenizer="pairs") as encoded:
        assert decoded(encoded) == [["ab", "cd"], ["e"]]

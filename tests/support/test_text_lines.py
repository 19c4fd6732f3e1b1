"""Small text files of users; other content is refused in one line that names the file."""

import codecs
import re
from pathlib import Path

import pytest

from embeddings.errors import FormatError
from embeddings.support import text_lines
from embeddings.support.text_lines import read_text_lines


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_have_no_mark_and_no_ends(tmp_path, mark, end):
    (tmp_path / "f").write_bytes(mark + "naïve x\u2028y".encode() + end + end + b"b")
    assert read_text_lines(tmp_path / "f", "list of words") == ["naïve x\u2028y", "", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"a\n\xff", "is truncated or broken: 'utf-8' codec can't decode byte 0xff in position 2"),
        ("a\n".encode("utf-16"), ": expected text in UTF-8"),
        ("a\n".encode("utf-32"), ": expected text in UTF-8"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "f").write_bytes(content)
    with pytest.raises(FormatError) as error:
        read_text_lines(tmp_path / "f", "list of words")
    assert re.match(re.escape(f"{tmp_path / 'f'} (list of words)") + f" ?{message}", str(error.value))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_devices_that_never_end_are_refused(device):
    if not Path(device).is_char_device():
        pytest.skip(f"there is no {device}")
    with pytest.raises(FormatError, match=rf"{device} \(list of words\)"):
        read_text_lines(Path(device), "list of words")


def test_a_long_file_with_multibyte_characters_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "MAX_LINE_BYTES", 5)
    (tmp_path / "f").write_text("ab\nö日本\nx", encoding="utf-8")
    assert read_text_lines(tmp_path / "f", "list of words") == ["ab", "ö日本", "x"]

"""Files divided into parts of about equal size, which are read apart; plain text is cut where a line begins."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import IO, cast

from embeddings.corpora.reading.compression import HEAD, detect_compression
from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.file_types import FileType, detect, detect_binary
from embeddings.corpora.reading.sources import File, FileStatus, RemoteFile, read_error

SEARCH_SIZE = 1 << 20  # bytes in which a line end is searched at a time


@dataclass(frozen=True)
class FileRange(File):
    """Bytes `begin` to `end` of a file of plain text."""

    begin: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """Its name for messages, in which positions count from `begin`."""
        return f"{self.path} from byte {self.begin} on" if self.begin else str(self.path)

    def status(self) -> FileStatus:
        """Return the size and what identifies the content; raises OSError."""
        return FileStatus(self.end - self.begin, [self.begin, File(self.path).status().identity])

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the range for reading bytes."""
        with super().open_stream() as stream:
            yield cast(IO[bytes], LimitedStream(stream, self.begin, self.end))


class LimitedStream(io.RawIOBase):
    """A range of an open file."""

    def __init__(self, stream: IO[bytes], begin: int, end: int) -> None:
        self.stream, self.left = stream, end - begin
        stream.seek(begin)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        data = self.stream.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data


def divide_files(files: Sequence[File], parts: int, encoding: str) -> list[list[File]]:
    """Return the files, or ranges of them, of each part, in order; a part can be empty.

    Only files of plain text in UTF-8 on disk are cut.

    Raises:
        CorpusError: a file cannot be read.
    """
    sizes = []
    for file in files:
        try:
            sizes.append(file.status().size or 0)
        except OSError as error:
            raise read_error(file.name, error) from error
    ends = list(accumulate(sizes))
    total = ends[-1] if ends else 0
    cuts = [(0, 0)] + [find_cut(files, sizes, ends, total * part // parts, encoding) for part in range(1, parts)]
    cuts.append((len(files), 0))
    return [between(files, sizes, cuts[part], max(cuts[part], cuts[part + 1])) for part in range(parts)]


def find_cut(files: Sequence[File], sizes: list[int], ends: list[int], place: int, encoding: str) -> tuple[int, int]:
    """Return the file and the byte in it next to a place in all files where these can be cut."""
    number = next(number for number, end in enumerate(ends) if place < end or number == len(ends) - 1)
    offset = place - (ends[number] - sizes[number])
    if encoding != UTF8 or not is_plain_text(files[number]):
        return (number, 0) if 2 * offset < sizes[number] else (number + 1, 0)
    start = next_line(files[number], offset)
    return (number, start) if start < sizes[number] else (number + 1, 0)


def is_plain_text(file: File) -> bool:
    """Whether a file on disk is text without compression."""
    if isinstance(file, RemoteFile):
        return False
    with file.open_stream() as stream:
        head = stream.read(HEAD)
    if detect_compression(head) or detect_binary(head):
        return False
    return detect(head, file.name, text_column=None) is FileType.TEXT


def next_line(file: File, offset: int) -> int:
    """Return where the first line after a byte begins, or the size of the file."""
    if offset == 0:
        return 0
    with file.open_stream() as stream:
        place = offset - 1  # a line may begin at the offset
        stream.seek(place)
        while data := stream.read(SEARCH_SIZE):
            end = data.find(b"\n")
            if end >= 0:
                return place + end + 1
            place += len(data)
        return place


def between(files: Sequence[File], sizes: list[int], first: tuple[int, int], last: tuple[int, int]) -> list[File]:
    """Return what lies between two cuts."""
    parts: list[File] = []
    for number in range(first[0], min(last[0] + 1, len(files))):
        begin = first[1] if number == first[0] else 0
        end = last[1] if number == last[0] else sizes[number]
        is_whole = (begin, end) == (0, sizes[number])
        if end > begin or (is_whole and number < last[0]):
            parts.append(files[number] if is_whole else FileRange(files[number].path, begin, end))
    return parts

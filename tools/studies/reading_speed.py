"""Speed of reading and encoding text: by format of the file, language, tokenizer and number of threads."""

import gzip
import io
import json
import lzma
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple
from xml.sax.saxutils import escape

import pyarrow
import pyarrow.csv
import pyarrow.parquet

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.support.system import available_threads
from studies.grid import Grid, Rows, is_installed, pivot, timed

N_PARTS, PAGE_ROWS = 8, 20  # files of a folder, and lines of a page
SCANNERS = ("words", "alphanumeric")
ARTICLES = Path(__file__).parents[1] / "human_rights.tsv"
Runs = Mapping[Any, Callable[[], Mapping[str, Any]]]


def lines_of(source: Path) -> list[str]:
    """The lines of a file that are not empty."""
    with source.open(encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\r\n") for line in lines if line.strip()]


def pages(source: Path) -> list[str]:
    """Some lines at a time."""
    lines = lines_of(source)
    return ["\n".join(lines[first : first + PAGE_ROWS]) for first in range(0, len(lines), PAGE_ROWS)]


def copy(source: Path, target: Path) -> None:
    """Copy the file, compressed as the name of the copy says."""
    open_target = partial(lzma.open, mode="wb", preset=1) if target.suffix == ".xz" else pyarrow.output_stream
    with source.open("rb") as text, open_target(target) as out:
        shutil.copyfileobj(text, out, BLOCK_SIZE)


def write_parts(source: Path, target: Path) -> None:
    """Compress parts of the file, as files of a folder."""
    target.mkdir()
    size = -(-source.stat().st_size // N_PARTS)
    with source.open("rb") as text:
        for number in range(N_PARTS):
            with gzip.open(target / f"part{number}.gz", "wb") as out:
                out.write(text.read(size) + text.readline())


def write_csv(source: Path, target: Path) -> None:
    """Write a row for each line."""
    options = pyarrow.csv.WriteOptions(delimiter="\t" if target.suffix == ".tsv" else ",", quoting_style="needed")
    pyarrow.csv.write_csv(pyarrow.table({"text": lines_of(source)}), target, options)


def write_json_lines(source: Path, target: Path) -> None:
    """Write a row for each line."""
    with target.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"text": line}, ensure_ascii=False) + "\n" for line in lines_of(source))


def write_table(open_writer: Callable[..., Any], source: Path, target: Path) -> None:
    """Write a row for each line with a writer of pyarrow, in batches of 10,000."""
    table = pyarrow.table({"text": lines_of(source)})
    with open_writer(target, table.schema) as writer:
        writer.write_table(table, 10_000)


def write_wet(source: Path, target: Path) -> None:
    """Write pages, each compressed by itself, as Common Crawl does."""
    from warcio.warcwriter import WARCWriter

    with target.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for page in pages(source):
            record = writer.create_warc_record("https://example.org/", "conversion", io.BytesIO(page.encode()))
            writer.write_record(record)


def write_dump(source: Path, target: Path) -> None:
    """Write pages of MediaWiki."""
    text = "".join(
        f"<page><title>{number}</title><ns>0</ns><id>{number}</id><revision><text>{escape(page)}"
        "</text></revision></page>\n"
        for number, page in enumerate(pages(source))
    )
    target.write_text(f"<mediawiki>\n{text}</mediawiki>\n", encoding="utf-8")


class Format(NamedTuple):
    """The name of a file, the function that writes it, the library that reading it requires, and the most text."""

    file: str
    write: Callable[[Path, Path], None]
    library: str = "pyarrow"
    max_size: int | None = None


FORMATS: dict[str, Format] = {
    "plain text": Format("text.txt", copy),
    "gzip": Format("text.txt.gz", copy),
    f"gzip, {N_PARTS} files": Format("parts", write_parts),
    "zstd": Format("text.txt.zst", copy),
    "bzip2": Format("text.txt.bz2", copy),
    "xz": Format("text.txt.xz", copy),
    "CSV": Format("text.csv", write_csv),
    "TSV": Format("text.tsv", write_csv),
    "JSON lines": Format("text.jsonl", write_json_lines),
    "Parquet": Format("text.parquet", partial(write_table, pyarrow.parquet.ParquetWriter)),
    "Arrow": Format("text.arrow", partial(write_table, pyarrow.ipc.new_file)),
    "Arrow stream": Format("text.arrows", partial(write_table, pyarrow.ipc.new_stream)),
    "WET (gzip)": Format("text.warc.wet.gz", write_wet, "warcio", 30_000_000),
    "MediaWiki dump": Format("text.xml", write_dump, "mwparserfromhell", 4_000_000),
}


def count_split(source: Path) -> None:
    """Count words with Python alone."""
    with source.open(encoding="utf-8") as lines:
        Counter(chain.from_iterable(line.lower().split() for line in lines))


def count_gensim(source: Path) -> None:
    """Count the words of gensim's stream of sentences."""
    from gensim.models.word2vec import LineSentence

    Counter(chain.from_iterable(LineSentence(str(source))))


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "Python: `line.lower().split()`, `Counter`": (count_split, "collections"),
    "gensim: `LineSentence`, `Counter`": (count_gensim, "gensim"),
}


class Reading(Grid):
    """Measures how fast text is read and encoded, by format of the file and number of threads.

    The lines of --text, a plain text file, that are not empty are written as rows of tables, and the file is
    compressed. Each file is encoded with each number of threads in turns: read, split into words, counted, and written
    as ids. Figures are medians in MB of text per second of wall time; compilation is not included. The last rows are
    what others use for plain text; they only split at white space and count. Formats and others whose library is not
    installed are left out. 100 MB take a few minutes.
    """

    results = "reading-speed"
    keys = ("format",)
    values = ("threads", "round", "measure", "value")
    packages = ("numba", "numpy", "pyarrow")
    defaults: ClassVar = {"text": str, "format": [*FORMATS, *OTHERS], "threads": [], "rounds": 3}
    about = "{size:.0f} MB of text; medians of {rounds}."

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """Each format, and each way of others."""
        for name in self.options.format:
            if is_installed(name, FORMATS[name].library if name in FORMATS else OTHERS[name][1]):
                yield (name,)

    def prepare(self) -> None:
        """Note the size of the text."""
        self.facts = {"size": Path(self.options.text).stat().st_size / 1e6}

    def runs(self, name: str) -> Runs:
        """MB per second of wall time and per CPU second, by number of threads; others have none."""
        source = Path(self.options.text)
        if name in OTHERS:
            return {"": partial(speed, source, OTHERS[name][0], source)}
        form = FORMATS[name]
        path = self.folder / form.file
        if form.max_size is not None and source.stat().st_size > form.max_size:
            with source.open("rb") as text:
                head = text.read(form.max_size) + text.readline()
            source = self.folder / "head"
            source.write_bytes(head)
        form.write(source, path)
        threads = self.options.threads or sorted({1, available_threads()})
        return {str(number): partial(speed, source, encode, path, int(number)) for number in threads}

    def table(self, rows: Rows) -> str:
        """The speeds of each format by number of threads."""
        rows = [row for row in rows if row["measure"] == "MB/s"]
        for row in rows:
            row["measure"] += f", {row['threads'] or 1} thread{'s' * (row['threads'] not in ('', '1'))}"
        return pivot(rows, ("format",), dict.fromkeys(sorted({row["measure"] for row in rows}), ".0f"))


class Tokenizers(Grid):
    """Measures how fast text of several languages is encoded, with the tokenizers `words` and `alphanumeric` in turns.

    Texts are article 1 of the Universal Declaration of Human Rights in each language, repeated to --size bytes: all but
    its first words are known ones, so that it shows the speed of the scanner alone. Further ones are --text NAME=FILE.
    Figures are medians in MB per CPU second of scanning, counting and writing ids; compilation is not included.
    """

    results = "tokenizer-speed"
    keys = ("text", "MB")
    values = ("tokenizer", "round", "measure", "value")
    packages = ("numba", "numpy", "pyarrow")
    defaults: ClassVar = {"text": {}, "size": 20_000_000, "rounds": 5}
    about = "One core; medians of {rounds}."

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """Each text with its size."""
        for name, file in self.options.text.items():
            yield name, f"{Path(file).stat().st_size / 1e6:.0f}"
        for name in articles():
            yield f"{name}, repeated article", f"{self.options.size / 1e6:.0f}"

    def runs(self, name: str, size: str) -> Runs:
        """MB per second, by tokenizer."""
        path = Path(self.options.text.get(name, self.folder / "text"))
        if name not in self.options.text:
            line = f"{articles()[name.removesuffix(', repeated article')]}\n".encode()
            path.write_bytes(line * max(1, self.options.size // len(line)))
        return {one: partial(speed, path, encode, path, tokenizer=one) for one in SCANNERS}

    def table(self, rows: Rows) -> str:
        """A row for each text."""
        rows = [{**row, "measure": f"{row['tokenizer']}: {row['measure']}"} for row in rows]
        return pivot(rows, self.keys, {f"{name}: MB/CPU s": ".0f" for name in SCANNERS})


def articles() -> dict[str, str]:
    """Article 1 of the declaration, by language."""
    return dict(line.split("\t") for line in ARTICLES.read_text("utf-8").splitlines())


def encode(path: Path, threads: int = 1, **settings: Any) -> None:
    """Encode a text, without the cache."""
    with TemporaryDirectory() as folder:
        Corpus(path, **settings).write_text(Path(folder), None, BLOCK_SIZE, threads)


def speed(source: Path, work: Callable[..., None], *arguments: Any, **settings: Any) -> dict[str, float]:
    """MB of a text per second of wall time and per CPU second of some work."""
    size, seconds = source.stat().st_size / 1e6, timed(partial(work, *arguments, **settings))
    return {"MB/s": size / seconds["wall s"], "MB/CPU s": size / max(seconds["CPU s"], 1e-9)}

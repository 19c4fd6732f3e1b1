"""Speed of reading and encoding text: by format of the file, language, tokenizer and number of threads."""

import gzip
import io
import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from xml.sax.saxutils import escape

import pyarrow
import pyarrow.csv
import pyarrow.parquet

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.support.system import available_threads
from studies.grid import Grid, Rows, is_installed, pivot, timed

PAGE_ROWS = 20  # lines of a page
SCANNERS = ("words", "alphanumeric")
ARTICLES = Path(__file__).parents[1] / "human_rights.tsv"
FORMATS = {  # files, or folders, in the format that their name says
    "plain text": "text.txt", "gzip": "text.txt.gz", "gzip, 8 files": "8", "zstd": "text.txt.zst",
    "bzip2": "text.txt.bz2", "xz": "text.txt.xz", "CSV": "text.csv", "TSV": "text.tsv", "JSON lines": "text.jsonl",
    "Parquet": "text.parquet", "Arrow": "text.arrow", "Arrow stream": "text.arrows", "WET (gzip)": "text.warc.wet.gz",
    "MediaWiki dump": "text.xml",
}  # fmt: skip
OTHERS = {"Python: `line.lower().split()`, `Counter`": "python", "gensim: `LineSentence`, `Counter`": "gensim"}
LIBRARIES = {"text.warc.wet.gz": "warcio", "text.xml": "mwparserfromhell", "gensim": "gensim"}
MOST = {"text.warc.wet.gz": 30_000_000, "text.xml": 4_000_000}  # bytes of text that are written
Runs = Mapping[Any, Callable[[], Mapping[str, Any]]]


def write(source: Path, target: Path) -> None:
    """Write the lines of a text that are not empty, as pages of 20 lines or as rows of tables of 10,000, or copy it."""
    text = source.read_bytes()[: MOST.get(target.name)].decode("utf-8", "ignore")
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    pages = ("\n".join(lines[first : first + PAGE_ROWS]) for first in range(0, len(lines), PAGE_ROWS))
    table = pyarrow.table({"text": lines})
    writers = {
        ".parquet": pyarrow.parquet.ParquetWriter,
        ".arrow": pyarrow.ipc.new_file,
        ".arrows": pyarrow.ipc.new_stream,
    }
    match target.name.partition(".")[2]:
        case "":  # a folder of as many parts
            target.mkdir()
            size = -(-len(lines) // int(target.name))
            for number in range(int(target.name)):
                with gzip.open(target / f"part{number}.gz", "wt", encoding="utf-8") as part:
                    part.writelines(f"{line}\n" for line in lines[number * size : (number + 1) * size])
        case "csv" | "tsv":
            delimiter = "," if target.suffix == ".csv" else "\t"
            options = pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            pyarrow.csv.write_csv(table, target, options)
        case "jsonl":
            rows = (json.dumps({"text": line}, ensure_ascii=False) + "\n" for line in lines)
            target.write_text("".join(rows), encoding="utf-8")
        case "parquet" | "arrow" | "arrows":
            with writers[target.suffix](target, table.schema) as out:
                out.write_table(table, 10_000)
        case "warc.wet.gz":  # each page is compressed by itself, as Common Crawl does
            from warcio.warcwriter import WARCWriter

            with target.open("wb") as file:
                out = WARCWriter(file, gzip=True)
                for page in pages:
                    record = out.create_warc_record("https://example.org/", "conversion", io.BytesIO(page.encode()))
                    out.write_record(record)
        case "xml":
            body = "".join(
                f"<page><title>{number}</title><ns>0</ns><id>{number}</id><revision><text>{escape(page)}"
                "</text></revision></page>\n"
                for number, page in enumerate(pages)
            )
            target.write_text(f"<mediawiki>\n{body}</mediawiki>\n", encoding="utf-8")
        case _:
            open_target = partial(lzma.open, mode="wb", preset=1) if target.suffix == ".xz" else pyarrow.output_stream
            with open_target(target) as out:
                out.write(text.encode())


def count_words(source: Path, way: str) -> None:
    """Count words with Python alone, or those of gensim's stream of sentences."""
    if way == "gensim":
        from gensim.models.word2vec import LineSentence

        Counter(chain.from_iterable(LineSentence(str(source))))
        return
    with source.open(encoding="utf-8") as lines:
        Counter(chain.from_iterable(line.lower().split() for line in lines))


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
            library = LIBRARIES.get((FORMATS | OTHERS)[name])
            if library is None or is_installed(name, library):
                yield (name,)

    def prepare(self) -> None:
        """Note the size of the text."""
        self.facts = {"size": Path(self.options.text).stat().st_size / 1e6}

    def runs(self, name: str) -> Runs:
        """MB per second of wall time and per CPU second, by number of threads; others have none."""
        source = Path(self.options.text)
        size = source.stat().st_size
        if name in OTHERS:
            return {"": partial(speed, size, count_words, source, OTHERS[name])}
        path = self.folder / FORMATS[name]
        write(source, path)
        threads = self.options.threads or sorted({1, available_threads()})
        size = min(size, MOST.get(path.name, size))
        return {str(number): partial(speed, size, encode, path, int(number)) for number in threads}

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

    def runs(self, name: str, megabytes: str) -> Runs:
        """MB per second, by tokenizer."""
        path = Path(self.options.text.get(name, self.folder / "text"))
        if name not in self.options.text:
            line = f"{articles()[name.removesuffix(', repeated article')]}\n".encode()
            path.write_bytes(line * max(1, self.options.size // len(line)))
        size = path.stat().st_size
        return {one: partial(speed, size, encode, path, tokenizer=one) for one in SCANNERS}

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


def speed(size: int, work: Callable[..., None], *arguments: Any, **settings: Any) -> dict[str, float]:
    """MB of a text per second of wall time and per CPU second of some work."""
    seconds = timed(partial(work, *arguments, **settings))
    return {"MB/s": size / 1e6 / seconds["wall s"], "MB/CPU s": size / 1e6 / max(seconds["CPU s"], 1e-9)}

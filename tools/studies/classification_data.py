"""Labelled texts of the classifier study as lines for fastText: lower-cased, punctuation separated, in random order."""

import csv
import random
import re
from collections.abc import Iterator
from pathlib import Path

from embeddings.corpora.reading.compression import open_decompressed

IMDB, AG_NEWS, SST = "imdb", "ag-news", "sst"
FOLDS = {IMDB: 1, AG_NEWS: 5, SST: 1}
SEED = 1  # of the order


def prepare(data: Path, folder: Path, limit: int | None) -> None:
    """Write `DATASET-FOLD.train` and `.test` for each fold of each data set, and `imdb-0.valid` of a search.

    Arguments:
        data: the folder with the original files.
        limit: the number of texts of each side of IMDB, and of AG News; None for all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (shuffled(list(imdb_lines(data, side)), limit) for side in ("train", "test"))
    fifth = len(train) // 5
    write_lines(folder / f"{IMDB}-0.train", train)
    write_lines(folder / f"{IMDB}-0.test", test)
    write_lines(folder / f"{IMDB}-0.valid", train[:fifth])
    write_lines(folder / f"{IMDB}-0.part", train[fifth:])  # the rest of the training texts
    lines = shuffled(list(ag_news_lines(data)), limit)
    for fold in range(FOLDS[AG_NEWS]):
        write_lines(folder / f"{AG_NEWS}-{fold}.train", [one for n, one in enumerate(lines) if n % 5 != fold])
        write_lines(folder / f"{AG_NEWS}-{fold}.test", lines[fold::5])
    for side in ("train", "test"):
        write_lines(folder / f"{SST}-0.{side}", shuffled(list(sst_lines(data, side)), None))


def imdb_lines(data: Path, side: str) -> Iterator[str]:
    """The reviews of one side; a rating above 5 of 10 is positive."""
    for name in ("neg", "pos"):
        with open_decompressed(data / f"imdb-{side}_{name}.tsv.zst") as file:
            content = b"".join(iter(lambda: file.read(1 << 20), b"")).decode()
        for line in content.split("\n"):
            if line:
                _, rating, text = line.split("\t", 2)
                yield labelled("pos" if int(rating) > 5 else "neg", text)


def ag_news_lines(data: Path) -> Iterator[str]:
    """Titles and descriptions."""
    with (data / "ag-news-7600.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield labelled(row["label"], f"{row['title']} {row['description']}")


def sst_lines(data: Path, side: str) -> Iterator[str]:
    """Sentences."""
    for line in (data / f"sst-binary-{side}.txt").read_text(encoding="utf-8").splitlines():
        yield labelled(*line.split(" ", 1))


def labelled(label: str, text: str) -> str:
    """A line for fastText."""
    words = re.sub(r"([^\w\s])", r" \1 ", text.replace("<br />", " ").lower()).split()
    return " ".join([f"__label__{label}", *words])


def shuffled(lines: list[str], limit: int | None) -> list[str]:
    """The lines in random order, or the first of them up to a limit."""
    random.Random(SEED).shuffle(lines)
    return lines[:limit]


def write_lines(path: Path, lines: list[str]) -> None:
    """Write lines to a file."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_labelled(path: Path) -> tuple[list[str], list[str]]:
    """The texts and the labels of such a file."""
    pairs = [line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines()]
    return [pair[1] if len(pair) > 1 else "" for pair in pairs], [pair[0].removeprefix("__label__") for pair in pairs]

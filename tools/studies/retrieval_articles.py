"""Retrieval sets of held-out articles: the texts that queries of each article are to find."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from embeddings.corpora.reading.compression import open_decompressed
from embeddings.corpora.reading.text_pairs import is_long, split_sentences

TASKS = {
    "title": "the title → the first paragraph",
    "title-words": "the title → the first paragraph without words of the title",
    "sentence": "the first sentence → the rest of the paragraph without words of the title",
}
WORD = re.compile(r"\w+")


def read_articles(path: Path) -> Iterator[list[str]]:
    """The lines of each article: its title, then its paragraphs."""
    lines: list[str] = []
    with open_decompressed(path) as file:
        for raw in file:
            line = raw.decode("utf-8", "replace").strip()
            if line:
                lines.append(line)
            elif lines:
                yield lines
                lines = []
    if lines:
        yield lines


def make_query(task: str, article: Sequence[str]) -> tuple[str, str] | None:
    """The query and the text to be found of an article; None if it has no such texts."""
    title = article[0]
    paragraph = next(filter(is_long, article[1:]), None)
    if paragraph is None:
        return None
    first, rest = (title, paragraph) if task != "sentence" else split_first(paragraph)
    if task != "title":
        rest = without_words(rest, title)
    return (first, rest) if first and is_long(rest) else None


def split_first(paragraph: str) -> tuple[str, str]:
    """The first sentence of a paragraph, and the rest."""
    first, *others = split_sentences(paragraph)
    return first, " ".join(others)


def without_words(text: str, title: str) -> str:
    """A text without the words of a title, whatever their case."""
    words = set(WORD.findall(title.lower()))
    return WORD.sub(lambda match: "" if match[0].lower() in words else match[0], text)


def write_task(folder: Path, pairs: Sequence[tuple[bool, str, str]]) -> None:
    """Write queries, documents and judgements of a retrieval set: of each pair, whether it is asked, and its texts."""
    folder.mkdir()
    asked = [str(number) for number, pair in enumerate(pairs) if pair[0]]
    for name, side, numbers in (("queries.jsonl", 1, asked), ("corpus.jsonl", 2, map(str, range(len(pairs))))):
        rows = (json.dumps({"_id": number, "text": pairs[int(number)][side]}) + "\n" for number in numbers)
        (folder / name).write_text("".join(rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text("".join(f"{one}\t{one}\t1\n" for one in asked), encoding="utf-8")

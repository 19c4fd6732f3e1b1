"""What a file or folder holds, from its first bytes and its size alone unless more is asked for."""

import os
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import compressed, plain, start_of
from embeddings.support import tensors
from embeddings.vectors import format_dispatch

SHOWN = 10
LONGEST_SHOWN = 120
BLOCK = 1 << 20
CONTROLS = set(range(32)) - set(b"\t\n\v\f\r\x1b")


def describe(path: str | os.PathLike[str], *, full: bool = False, allow_pickle: bool = False) -> dict[str, Any]:
    """Facts by name: "what" it is, and what can be said of such a thing; values that JSON can hold.

    A saved model, an encoded corpus, checkpoints or the log of a run, a list of phrases, vectors in any installed
    format, a vocabulary, a text, compressed or not, or an unknown file. No pickle is run.

    Arguments:
        full: read all of it: count the lines of a text, the phrases of a list, the events of a log, check every vector
            of a file, so that words are counted where nothing says how many there are.
        allow_pickle: with `full`, read gensim's own files, which can run any code.

    Raises:
        FormatError: it is missing, cannot be read, or is a folder of another kind; and of a file of vectors, if it is
            found to be broken.
    """
    place = Path(path)
    if os.path.isdir(place):
        format_dispatch.sniff(place)  # refuses one that may not be looked into
        return folder(place, full=full, allow_pickle=allow_pickle)
    start = start_of(place)
    facts = {"size": place.stat().st_size, "compression": compressed(place)}
    name = format_dispatch.sniff(place)
    if name is None or (name == "glove" and not whole_line(start)):
        return other_facts(place, start, facts, full=full)
    return told(place, name, facts, full=full, allow_pickle=allow_pickle)


def told(path: Path, name: str, facts: dict[str, Any], *, full: bool, allow_pickle: bool) -> dict[str, Any]:
    """What is known of a file or folder of a format, and what the format says of it."""
    found = vector_facts(path, name, full=full, allow_pickle=allow_pickle)
    return {"what": found.pop("what", "vectors"), "format": name} | facts | found


def folder(path: Path, *, full: bool, allow_pickle: bool) -> dict[str, Any]:
    """A saved model, a saved index, an encoded corpus, checkpoints, or vectors in a format that is a folder.

    Raises:
        FormatError: it is none of them.
    """
    from embeddings.corpora.encoded_corpus import META, read_meta
    from embeddings.indexes.index_files import RECORD as INDEX
    from embeddings.indexes.index_files import read_record
    from embeddings.models.model_files import MAIN, RECORD, TENSORS, VOCABULARY, read_description
    from embeddings.training.checkpoint_summary import checkpoint_facts, checkpoints_of

    if (path / INDEX).is_file():
        record = read_record(path)
        kept = ("kind", "rows", "dim", "bytes", "build_seconds", "settings", "vectors")
        return {"what": "saved index", **{key: record.get(key) for key in kept}}
    if checkpoints := checkpoints_of(path):
        return {"what": "checkpoints of a run"} | checkpoint_facts(checkpoints)
    if not (path / RECORD).is_file() and (name := format_dispatch.sniff(path)):
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return told(path, name, {"size": size}, full=full, allow_pickle=allow_pickle)
    if (path / META).is_file():
        meta = read_meta(path)
        return {"what": "encoded corpus", **{key: value for key, value in meta.items() if key != "files"}}
    description, tables = read_description(path), tensors.load(path / TENSORS)
    words, total = vocabulary_facts(path / VOCABULARY)
    main = tables.get(MAIN)
    return {
        "what": "saved model",
        "format": "embeddings model",
        "model": description["model"],
        "words": words,
        "dim": None if main is None else main.shape[-1],
        "corpus_tokens": total,
        "tables": {name: list(table.shape) for name, table in tables.items()},
        "settings": description["settings"],
        "record": description["record"],
        "packages": description["packages"],
    }


def vocabulary_facts(path: Path) -> tuple[int, int | None]:
    """How many words a vocabulary file holds, and the tokens of its corpus.

    Raises:
        FormatError: it is missing or broken.
    """
    from embeddings.corpora.vocabulary import TOTAL
    from embeddings.formats.arrow_ipc import reading

    with reading(path) as batches:
        words = sum(batches.get_batch(number).num_rows for number in range(batches.num_record_batches))
        total = (batches.schema.metadata or {}).get(TOTAL, b"")
    return words, int(total) if total.isdigit() else None


def vector_facts(path: Path, name: str, *, full: bool, allow_pickle: bool) -> dict[str, Any]:
    """What a format says of a file; read and checked whole if asked."""
    format = format_dispatch.by_name(name)
    describe = getattr(format, "describe", None)
    facts: dict[str, Any] = describe(path) if describe else {}
    if "what" in facts:
        return facts
    if "columns" in facts:
        columns = set(facts["columns"])
        return {"what": "vocabulary" if {"word", "count"} <= columns else "table without vectors"} | facts
    if full and (allow_pickle or not facts.get("pickle")):
        vectors = format.read(path, allow_pickle=allow_pickle)
        facts |= {"words": len(vectors), "dim": vectors.dim, "counts": vectors.counts is not None, "checked": True}
        facts["first_words"] = vectors.words
    if "first_words" in facts:
        facts["first_words"] = [word[:LONGEST_SHOWN] for word in facts["first_words"][:SHOWN]]
    if facts.get("pickle") and not str(facts["holds"]).startswith("gensim."):
        facts["what"] = "pickle"
    return facts


def other_facts(path: Path, start: bytes, facts: dict[str, Any], *, full: bool) -> dict[str, Any]:
    """The log of a run, a list of phrases, a text, or what nobody knows."""
    from embeddings.corpora.phrases import phrase_list
    from embeddings.training.run_log_reader import is_log, log_facts

    if is_log(start) and facts["compression"] is None:
        return {"what": "log of a run"} | facts | log_facts(path, full=full)
    if phrase_list.is_list(start) and facts["compression"] is None:
        phrases = {"phrases": len(phrase_list.read(path))} if full else {}
        return {"what": "list of phrases"} | facts | text_facts(path, start, full=full) | phrases
    if not start:
        return {"what": "empty file"} | facts
    if is_text(start):
        return {"what": "text"} | facts | text_facts(path, start, full=full)
    if not set(start) & CONTROLS:
        return {"what": "text", "encoding": "not UTF-8"} | facts | text_facts(path, start, full=full)
    return {"what": "unknown binary file"} | facts | {"first_bytes": start[:16].hex(" ")}


def whole_line(start: bytes) -> bool:
    """Whether the first line looks like one of vectors: two numbers after its word at least."""
    from embeddings.formats.glove import numbers_at_end

    return numbers_at_end(start.split(b"\n", 1)[0]) >= 2


def is_text(start: bytes) -> bool:
    """Whether bytes are UTF-8, but for a character cut at the end, without NULs; an empty start is none."""
    if not start or b"\0" in start:
        return False
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(start) - 3 and error.reason == "unexpected end of data"
    return True


def text_facts(path: Path, start: bytes, *, full: bool) -> dict[str, Any]:
    """The first line, and, if asked, how many lines and bytes there are."""
    line = start.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    facts: dict[str, Any] = {"first_line": line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"}
    if full:
        lines = size = 0
        end = b"\n"
        with plain(path) as stream:
            while block := stream.read(BLOCK):
                lines, size, end = lines + block.count(b"\n"), size + len(block), block[-1:]
        facts |= {"lines": lines + (end != b"\n"), "bytes": size}
    return facts

"""Every reader: a good file or folder for it, and what it is read with; a broken one is read or refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from format_options import FORMAT_OPTIONS as NO_PICKLES

import embeddings as em
from embeddings.errors import EmbeddingsError

FORMAT_OPTIONS: dict[str, dict[str, str]] = {**NO_PICKLES, "gensim": {}}
TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats a bone\n\nété 日本 don't\n" * 40
ROWS = [{"text": line, "tag": f"t{i}", "more": {"n": i}} for i, line in enumerate(TEXT.split("\n"))]
SMALL = {"dim": 8, "min_count": 1, "epochs": 1, "threads": 1, "seed": 3}
INDEXES = {
    "exact": ("exact", {}),
    "hamming": ("lsh", {"bits": 70}),
    "faiss": ("faiss", {"factory": "HNSW8"}),
}


class Reader(NamedTuple):
    """`make` writes a good one in an empty folder and gives its path; `read` reads what stands at a path."""

    make: Callable[[Path], Path]
    read: Callable[[Path], object]


def written(name: str, data: bytes | str) -> Callable[[Path], Path]:
    """Makes a file of this name and content."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return folder / name

    return make


def vectors() -> em.Vectors:
    words = ["the", "king", "été", "日本", *(f"word{i}" for i in range(60))]
    return em.Vectors(words, np.random.default_rng(1).standard_normal((64, 8)), counts=range(64, 0, -1))


def of_format(form: str) -> Reader:
    from embeddings.cli import inspection
    from embeddings.models.loading import load_model_or_vectors
    from embeddings.vectors import format_dispatch

    name = form.split()[0]

    def make(folder: Path) -> Path:
        vectors().save(folder / "v.npy", name, **FORMAT_OPTIONS[form])
        return folder / "v.npy"

    def read(path: Path) -> None:
        inspection.describe(path)
        if name == "gensim":  # a pickle, which is not read unless whoever asks for it trusts it
            return
        format_dispatch.load_format(name).describe(path)
        load_model_or_vectors(path)
        found = format_dispatch.load_format(name).read(path)
        assert np.isfinite(found.matrix).all()
        assert all(word.encode() is not None for word in found.words)
        assert len(set(found.words)) == len(found.words) == len(found.matrix)

    return Reader(make, read)


def of_model(trainer: str, **settings: Any) -> Reader:
    """A saved model, loaded and used in every way it offers."""
    from embeddings.cli import inspection

    def make(folder: Path) -> Path:
        text = em.Corpus([{"text": line, "tag": f"t{i}"} for i, line in enumerate(TEXT.split("\n")[:20])],
                         text_column="text", tag_column="tag", phrases=em.PhraseList(["the king"]))  # fmt: skip
        text = em.Corpus(TEXT.split("\n"), tokenizer="codepoints") if trainer == "sembei" else text
        em.train(trainer, text, **{**SMALL, **settings}).save(folder / "m")
        return folder / "m"

    def read(path: Path) -> None:
        inspection.describe(path, full=True)
        model = em.load_model(path)
        uses: list[Callable[[], object]] = [
            lambda: model.vectors.most_similar(model.vectors.words[0]),
            lambda: model.compose(["king", "kingdoms", ""]),
            lambda: model.documents.words,
            lambda: model.infer(["the king rules", "nothing"], epochs=1),
            lambda: em.continue_training(model, ["the king eats"] * 3, threads=1, epochs=1),
        ]
        refused = [error for error in map(outcome, uses) if error is not None]
        for error in refused:
            check_line(error)

    return Reader(make, read)


def outcome(use: Callable[[], object]) -> EmbeddingsError | None:
    try:
        use()
    except EmbeddingsError as error:
        return error
    return None


def check_line(error: Exception) -> None:
    """What a user is told: one line, and no novel."""
    text = str(error)
    assert text.strip(), f"{type(error).__name__} says nothing"
    assert "\n" not in text, f"more than a line: {text!r:.300}"
    assert len(text) < 2000, f"{len(text)} characters: {text!r:.200}"


def corpus(
    name: str, data: bytes | str | None = None, make: Callable[[Path], Path] | None = None, **how: Any
) -> Reader:
    """A source of text; with tags where it is a table."""

    def read(path: Path) -> None:
        with em.Corpus(path, **how).encode() as encoded:
            assert encoded.ids.max(initial=0) <= len(encoded.vocabulary)

    return Reader(make or written(name, data or ""), read)


def table(write: str) -> Callable[[Path], Path]:
    """Makes a file of Arrow's."""

    def make(folder: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = pa.Table.from_pylist([{"text": row["text"], "tag": row["tag"]} for row in ROWS])
        path = folder / f"t.{'parquet' if write == 'parquet' else 'arrow'}"
        if write == "parquet":
            pq.write_table(made, path, row_group_size=50)
        else:
            new = pa.ipc.new_file if write == "file" else pa.ipc.new_stream
            with path.open("wb") as stream, new(stream, made.schema) as writer:
                writer.write_table(made, max_chunksize=50)
        return path

    return make


def packed(kind: str) -> bytes:
    import bz2
    import gzip
    import lzma

    import pyarrow as pa

    plain = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    if kind in plain:
        return plain[kind](TEXT.encode())
    return bytes(pa.compress(TEXT.encode(), codec="zstd", asbytes=True))


def corpora() -> dict[str, Reader]:
    import csv
    import io

    tags = {"text_column": "text", "tag_column": "tag"}
    written = io.StringIO()
    sheet = csv.DictWriter(written, ["text", "tag"], extrasaction="ignore")
    sheet.writeheader()
    sheet.writerows(ROWS)
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    tsv = "text\ttag\n" + "".join(f"{row['text']}\t{row['tag']}\n" for row in ROWS)
    return {
        "corpus text": corpus("t.txt", TEXT),
        **{f"corpus {kind}": corpus(f"t.txt.{kind}", packed(kind)) for kind in ("gz", "bz2", "xz", "zst")},
        "corpus jsonl": corpus("t.jsonl", lines, **tags),
        "corpus csv": corpus("t.csv", written.getvalue(), **tags),
        "corpus tsv": corpus("t.tsv", tsv, **tags),
        "corpus parquet": corpus("", make=table("parquet"), **tags),
        "corpus arrow file": corpus("", make=table("file"), **tags),
        "corpus arrow stream": corpus("", make=table("stream"), **tags),
        "corpus codepoints": corpus("t.txt", TEXT, tokenizer="codepoints"),
        "encoded corpus": Reader(make_encoded, read_encoded),
    }


def make_encoded(folder: Path) -> Path:
    with em.Corpus([{"text": line, "tag": "t"} for line in TEXT.split("\n")], text_column="text", tag_column="tag",
                   phrases=em.PhraseList(["the king"])).encode() as encoded:  # fmt: skip
        shutil.copytree(encoded.folder, folder / "e")
    return folder / "e"


def read_encoded(path: Path) -> None:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

    with EncodedCorpus(path) as encoded:
        assert len(encoded.vocabulary) >= 0
        assert encoded.tags is None or len(encoded.tags) == len(encoded.documents) - 1
        assert encoded.phrases is None or encoded.phrases.num_rows >= 0


def judging_sets() -> dict[str, Reader]:
    from embeddings.eval.datasets.analogy_questions import read_questions
    from embeddings.eval.datasets.word_categories import read_categories
    from embeddings.eval.datasets.tagged_text import read_tagged
    from embeddings.eval.measures.document_classification import read_documents
    from embeddings.eval.measures.rated_phrases import read_ratings
    from embeddings.eval.datasets.word_pairs import read_pairs

    heading = "participant type s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"
    rated = heading + "".join(f"p{i} adjectivenouns red car big house {i % 7}\n" for i in range(30))
    conllu = "".join(
        f"{i}\tword{i}\tword{i}\t{t}\t_\t_\t0\troot\t_\t_\n" for i, t in enumerate(["NOUN", "VERB"] * 9, 1)
    )
    questions = ": capital\n" + "athens greece oslo norway\n" * 5 + ": gram1\n" + "big bigger small smaller\n" * 5
    labelled = "".join(f'{{"text": "the word{i} rules", "label": "{i % 3}"}}\n' for i in range(40))
    return {
        "set pairs": Reader(written("s.txt", "king queen 9\ndog cat 8.5\nking bone 1\n" * 9), read_pairs),
        "set pairs csv": Reader(written("s.csv", 'word1,word2,rating\n"king, a",queen,9\ndog,"cat",8\n'), read_pairs),
        "set analogies": Reader(written("q.txt", questions), read_questions),
        "set partners": Reader(written("b.txt", "cat\tcats/kitties\ndog\tdogs\nox\toxen\n"), read_questions),
        "set categories": Reader(written("c.txt", "king\tperson\ndog\tanimal\ncat,animal\n"), read_categories),
        "set tagging": Reader(written("t.conllu", f"# s\n{conllu}\n{conllu}\n"), read_tagged),
        "set ratings": Reader(written("r.txt", rated), read_ratings),
        "set documents": Reader(written("d.jsonl", labelled), lambda path: read_documents(path, "text", "label")),
    }


def lists() -> dict[str, Reader]:
    from embeddings.corpora.phrases import phrase_list, phrase_table
    from embeddings.corpora.vocabulary_files import read_vocabulary_file as read_vocabulary
    from embeddings.corpora.vocabulary_files import write_vocabulary_file as write_vocabulary
    from embeddings.vectors.word_files import read_words

    found = em.PhraseList([phrase_list.Phrase(("new", "york"), 9, 1.5, "noun-noun"), ("the", "old", "town")])

    def vocabulary(name: str) -> Callable[[Path], Path]:
        def make(folder: Path) -> Path:
            write_vocabulary(em.Vocabulary(["a", "été", "c"], [9, 5, 1]), folder / name)
            return folder / name

        return make

    def saved(folder: Path) -> Path:
        found.save(folder / "p.tsv")
        return folder / "p.tsv"

    def kept_table(folder: Path) -> Path:
        write_table(to_phrase_table(found), folder / "p.arrow")
        return folder / "p.arrow"

    log = "".join(json.dumps({"event": "progress", "words": i, "loss": 2.0 / (i + 1)}) + "\n" for i in range(9))
    return {
        "vocabulary arrow": Reader(vocabulary("v.arrow"), read_vocabulary),
        "vocabulary text": Reader(vocabulary("v.txt"), read_vocabulary),
        "phrase list": Reader(saved, phrase_list.read_phrases),
        "phrase table": Reader(kept_table, lambda path: phrase_table.phrases_from_table(phrase_table.load_phrase_table(path))),
        "word list": Reader(written("w.txt", "king\nqueen\nété\n"), read_words),
        "run log": Reader(written("l.jsonl", log), read_log),
        "config file": Reader(written("c.toml", 'dim = 8\nrate = 0.5\ncase = "keep"\nshuffle = true\n'), read_config),
    }


def read_log(path: Path) -> None:
    from embeddings.training import loss_curve

    loss_curve.loss_points(path)


def read_config(path: Path) -> None:
    """As the command line does; its errors of use are one-line errors too."""
    import click

    from embeddings.cli.train import trainer_command
    from embeddings.plugins.skipgram import SkipGram

    try:
        trainer_command("skipgram", SkipGram).make_context("skipgram", ["text.txt", "-o", "out", "--config", str(path)])
    except click.UsageError as error:
        raise EmbeddingsError(error.format_message()) from None


def of_index(name: str, *, refitted: bool) -> Reader:
    """A saved index; where the checksum is made to fit, only what is behind it can tell."""
    from embeddings.indexes.index_files import RECORD, TENSORS, checksum

    kind, settings = INDEXES[name]

    def make(folder: Path) -> Path:
        em.build_index(vectors(), kind, **settings).save(folder / "i")
        return folder / "i"

    def read(path: Path) -> None:
        if refitted and (path / TENSORS).is_file():
            refit(path / RECORD, checksum(path / TENSORS))
        em.load_index(path, vectors()).search(vectors().matrix[:5], top=3)

    return Reader(make, read)


def refit(record: Path, fitting: str) -> None:
    try:
        content = json.loads(record.read_text())
        content["checksum"] = fitting
        record.write_text(json.dumps(content))
    except (OSError, ValueError, TypeError, RecursionError):
        return


def of_checkpoint(trainer: str, *, refitted: bool) -> Reader:
    """A checkpoint that a run goes on from."""
    from interrupted_runs import interrupted_after

    text = em.Corpus(TEXT.split("\n") * 40)
    settings = {**SMALL, "epochs": 2, "shuffle": True}

    def make(folder: Path) -> Path:
        with interrupted_after(1):
            try:
                em.train(trainer, text, checkpoints=em.Checkpoints(folder / "c"), **settings)
            except em.Interrupted:
                return folder / "c"
        raise AssertionError("it was not interrupted")

    def read(path: Path) -> None:
        if refitted:
            resum(path)
        em.train(trainer, text, checkpoints=em.Checkpoints(path), resume=True, **settings)

    return Reader(make, read)


def resum(path: Path) -> None:
    """Let the sum over what kernels go on from fit, so that only what is behind it can tell."""
    from embeddings.support import tensors
    from embeddings.training.state import checksum

    for record in path.glob("*/checkpoint.json"):
        try:
            content = json.loads(record.read_text())
            content["values"]["checksum"] = checksum(tensors.load(record.parent / "tensors.safetensors"))
            record.write_text(json.dumps(content))
        except (OSError, ValueError, TypeError, LookupError, RecursionError, EmbeddingsError):
            continue


def readers() -> dict[str, Reader]:
    """All of them, by name."""
    return {
        **{f"format {form}": of_format(form) for form in FORMAT_OPTIONS},
        "model skipgram": of_model("skipgram"),
        "model fasttext": of_model("fasttext", buckets=50),
        "model sembei": of_model("sembei", max_n=2, per_length="all", compositional=True),
        "model paragraph-dbow": of_model("paragraph-dbow"),
        "model paragraph-dm": of_model("paragraph-dm", combine="concat"),
        "model tensor-indexing": of_model("tensor-indexing", fewest=0),
        **corpora(),
        **judging_sets(),
        **lists(),
        **{f"index {name}": of_index(name, refitted=False) for name in INDEXES},
        **{f"index {name}, sum fitted": of_index(name, refitted=True) for name in INDEXES},
        "checkpoint skipgram": of_checkpoint("skipgram", refitted=False),
        "checkpoint paragraph-dbow, sum fitted": of_checkpoint("paragraph-dbow", refitted=True),
        "checkpoint skipgram, sum fitted": of_checkpoint("skipgram", refitted=True),
    }

"""Every reader, with a good file or folder for it."""

import contextlib
import json
import os
import resource
import shutil
import socketserver
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from format_options import FORMAT_OPTIONS as SAFE_FORMATS
from format_options import is_installed
from structure import (
    Alter,
    alter_arrow,
    alter_encoded_corpus,
    alter_fasttext,
    alter_folder,
    alter_npy,
    alter_parquet,
    alter_safetensors_header,
    alter_tensors,
)
from supervised_models import TEXTS, supervised_model

import embeddings as em
from embeddings.errors import EmbeddingsError

FORMAT_OPTIONS: dict[str, dict[str, str]] = {**SAFE_FORMATS, "gensim": {}}
TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats a bone\n\nété 日本 don't\n" * 40
ROWS = [{"text": line, "tag": f"t{i}", "more": {"n": i}} for i, line in enumerate(TEXT.split("\n"))]
SMALL = {"dim": 8, "min_count": 1, "epochs": 1, "threads": 1, "seed": 3}
INDEXES = {
    "exact": ("exact", {}),
    "hamming": ("lsh", {"bits": 70}),
    "faiss": ("faiss", {"factory": "HNSW8"}),
}


class Reader(NamedTuple):
    """`make` writes a good file or folder in an empty folder and returns its path; `read` reads a path.

    `alter`, if given, alters the content of a copy; otherwise its bytes are mutated.
    """

    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    alter: Alter | None = None


def write_file(name: str, data: bytes | str) -> Callable[[Path], Path]:
    """A `make` of a file of this name and content."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return folder / name

    return make


def vectors() -> em.Vectors:
    words = ["the", "king", "été", "日本", *(f"word{i}" for i in range(60))]
    return em.Vectors(words, np.random.default_rng(1).standard_normal((64, 8)), counts=range(64, 0, -1))


def format_reader(form: str) -> Reader:
    from embeddings.cli import info
    from embeddings.models.loading import load_model_or_vectors
    from embeddings.vectors import file_format

    name = form.split()[0]

    def make(folder: Path) -> Path:
        vectors().save(folder / "v.npy", name, **FORMAT_OPTIONS[form])
        return folder / "v.npy"

    def read(path: Path) -> None:
        info.describe(path)
        if name == "gensim":  # a pickle, which is read only when allowed
            return
        file_format.load_format(name).describe(path)
        load_model_or_vectors(path)
        again = file_format.load_format(name).read(path)
        assert np.isfinite(again.matrix).all()
        assert all(word.encode() is not None for word in again.words)
        assert len(set(again.words)) == len(again.words) == len(again.matrix)

    return Reader(make, read)


def classifier_reader(loss: str, **kind: Any) -> Reader:
    """A supervised fastText file, with which texts are classified, and which is written again and quantised."""

    def make(folder: Path) -> Path:
        (folder / "m.ftz").write_bytes(supervised_model(loss, **kind).data)
        return folder / "m.ftz"

    def read(path: Path) -> None:
        classifier = em.load_classifier(path)
        uses: list[Callable[[], object]] = [
            lambda: classifier.predict(TEXTS, k=-1, threads=1),
            lambda: classifier.predict_proba(TEXTS, threads=1),
            lambda: check_copy(classifier, path.with_name("copy")),
            lambda: check_copy(classifier.quantize(7, qnorm=True), path.with_name("small")),
        ]
        for error in map(error_of, uses):
            if error is not None:
                check_line(error)

    return Reader(make, read)


def check_copy(classifier: em.training.LabelPredictor, path: Path) -> None:
    """A classifier predicts the same after writing and reading."""
    classifier.export(path, force=True)
    copy = em.load_classifier(path)
    assert copy.predict(TEXTS, threads=1).labels.tolist() == classifier.predict(TEXTS, threads=1).labels.tolist()


def model_reader(trainer: str, **settings: Any) -> Reader:
    """A saved model, which is loaded and used in every way."""
    from embeddings.cli import info

    def make(folder: Path) -> Path:
        text = em.Corpus([{"text": line, "tag": f"t{i}"} for i, line in enumerate(TEXT.split("\n")[:20])],
                         text_column="text", tag_column="tag", phrases=em.corpora.PhraseList(["the king"]))  # fmt: skip
        text = em.Corpus(TEXT.split("\n"), tokenizer="codepoints") if trainer == "sembei" else text
        em.train(trainer, text, **{**SMALL, **settings}).save(folder / "m")
        return folder / "m"

    def read(path: Path) -> None:
        info.describe(path, full=True)
        model = em.load_model(path)
        uses: list[Callable[[], object]] = [
            lambda: model.vectors.most_similar(model.vectors.words[0]),
            lambda: model.compose(["king", "kingdoms", ""]),
            lambda: model.documents.words,
            lambda: model.infer(["the king rules", "nothing"], epochs=1),
            lambda: em.continue_training(model, ["the king eats"] * 3, threads=1, epochs=1),
        ]
        for error in map(error_of, uses):
            if error is not None:
                check_line(error)

    return Reader(make, read)


def error_of(use: Callable[[], object]) -> EmbeddingsError | None:
    try:
        use()
    except EmbeddingsError as error:
        return error
    return None


def check_line(error: Exception) -> None:
    """A message must be one line of limited length."""
    text = str(error)
    assert text.strip(), f"{type(error).__name__} has no message"
    assert "\n" not in text, f"more than a line: {text!r:.300}"
    assert len(text) < 2000, f"{len(text)} characters: {text!r:.200}"


def corpus_reader(
    name: str, data: bytes | str | None = None, make: Callable[[Path], Path] | None = None, **settings: Any
) -> Reader:
    """A text source, of a table with tags."""

    def read(path: Path) -> None:
        with em.Corpus(path, **settings).encode() as encoded:
            assert encoded.ids.max(initial=0) <= len(encoded.vocabulary)

    return Reader(make or write_file(name, data or ""), read)


def write_arrow(kind: str) -> Callable[[Path], Path]:
    """A `make` of a Parquet file, or of an Arrow file or stream."""

    def make(folder: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pylist([{"text": row["text"], "tag": row["tag"]} for row in ROWS])
        path = folder / f"t.{'parquet' if kind == 'parquet' else 'arrow'}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=50)
        else:
            new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
            with path.open("wb") as stream, new(stream, table.schema) as writer:
                writer.write_table(table, max_chunksize=50)
        return path

    return make


def compress(kind: str) -> bytes:
    import bz2
    import gzip
    import lzma

    import pyarrow as pa

    plain = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    if kind in plain:
        return plain[kind](TEXT.encode())
    return bytes(pa.compress(TEXT.encode(), codec="zstd", asbytes=True))


def corpus_readers() -> dict[str, Reader]:
    import csv
    import io

    tags = {"text_column": "text", "tag_column": "tag"}
    csv_text = io.StringIO()
    sheet = csv.DictWriter(csv_text, ["text", "tag"], extrasaction="ignore")
    sheet.writeheader()
    sheet.writerows(ROWS)
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    tsv = "text\ttag\n" + "".join(f"{row['text']}\t{row['tag']}\n" for row in ROWS)
    return {
        "corpus text": corpus_reader("t.txt", TEXT),
        **{f"corpus {kind}": corpus_reader(f"t.txt.{kind}", compress(kind)) for kind in ("gz", "bz2", "xz", "zst")},
        "corpus jsonl": corpus_reader("t.jsonl", lines, **tags),
        "corpus csv": corpus_reader("t.csv", csv_text.getvalue(), **tags),
        "corpus tsv": corpus_reader("t.tsv", tsv, **tags),
        "corpus parquet": corpus_reader("", make=write_arrow("parquet"), **tags),
        "corpus arrow file": corpus_reader("", make=write_arrow("file"), **tags),
        "corpus arrow stream": corpus_reader("", make=write_arrow("stream"), **tags),
        "corpus codepoints": corpus_reader("t.txt", TEXT, tokenizer="codepoints"),
        "encoded corpus": Reader(write_encoded_corpus, read_encoded_corpus),
    }


def write_encoded_corpus(folder: Path) -> Path:
    with em.Corpus([{"text": line, "tag": "t"} for line in TEXT.split("\n")], text_column="text", tag_column="tag",
                   phrases=em.corpora.PhraseList(["the king"])).encode() as encoded:  # fmt: skip
        shutil.copytree(encoded.folder, folder / "e")
    return folder / "e"


def read_encoded_corpus(path: Path) -> None:
    """Open an encoded corpus as the cache does, and let trainers read what is accepted in each way."""
    from embeddings.corpora.encoded_corpus import EncodedCorpus

    with EncodedCorpus(path) as encoded:
        assert encoded.tags is None or len(encoded.tags) == len(encoded.documents) - 1
        assert encoded.phrases is None or encoded.phrases.num_rows >= 0
        corpus = em.Corpus(["the text"])
        corpus.encode = lambda **_: encoded  # type: ignore[method-assign]
        for trainer, shuffle in (("skipgram", True), ("cbow", False), ("paragraph-dbow", True)):
            error = error_of(lambda t=trainer, s=shuffle: em.train(t, corpus, shuffle=s, **SMALL))
            if error is not None:
                check_line(error)


def dataset_readers() -> dict[str, Reader]:
    from embeddings.eval.tasks.analogies import read_questions
    from embeddings.eval.tasks.document_classification import DocumentSettings, read_documents
    from embeddings.eval.tasks.phrase_composition import read_phrase_ratings
    from embeddings.eval.tasks.tagging import read_tagged
    from embeddings.eval.tasks.word_categories import read_word_categories
    from embeddings.eval.tasks.word_similarity import read_word_pairs

    heading = "participant type s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"
    rated = heading + "".join(f"p{i} adjectivenouns red car big house {i % 7}\n" for i in range(30))
    conllu = "".join(
        f"{i}\tword{i}\tword{i}\t{t}\t_\t_\t0\troot\t_\t_\n" for i, t in enumerate(["NOUN", "VERB"] * 9, 1)
    )
    questions = ": capital\n" + "athens greece oslo norway\n" * 5 + ": gram1\n" + "big bigger small smaller\n" * 5
    labelled = "".join(f'{{"text": "the word{i} rules", "label": "{i % 3}"}}\n' for i in range(40))
    return {
        "set pairs": Reader(write_file("s.txt", "king queen 9\ndog cat 8.5\nking bone 1\n" * 9), read_word_pairs),
        "set pairs csv": Reader(
            write_file("s.csv", 'word1,word2,rating\n"king, a",queen,9\ndog,"cat",8\n'), read_word_pairs
        ),
        "set analogies": Reader(write_file("q.txt", questions), read_questions),
        "set partners": Reader(write_file("b.txt", "cat\tcats/kitties\ndog\tdogs\nox\toxen\n"), read_questions),
        "set categories": Reader(write_file("c.txt", "king\tperson\ndog\tanimal\ncat,animal\n"), read_word_categories),
        "set tagging": Reader(write_file("t.conllu", f"# s\n{conllu}\n{conllu}\n"), read_tagged),
        "set ratings": Reader(write_file("r.txt", rated), read_phrase_ratings),
        "set documents": Reader(write_file("d.jsonl", labelled), lambda path: read_documents(path, DocumentSettings())),
    }


def labelled_text_readers() -> dict[str, Reader]:
    from embeddings.corpora.reading.labelled_texts import LabelFormat
    from embeddings.corpora.reading.sources import resolve_source

    def read(path: Path) -> list[list[str]]:
        batches = LabelFormat().read(resolve_source(path))
        return [labels for batch in batches for labels in batch.labels]

    lines = "__label__a __label__b the king\n__label__c d'été 日本\nno label\n" * 30
    table = "text,label\n" + 'the king,a\n"the, queen","b c"\n' * 30
    rows = "".join(json.dumps({"text": "the king", "label": ["a", "b"] if i % 2 else "c"}) + "\n" for i in range(30))
    return {
        "labels text": Reader(write_file("l.txt", lines), read),
        "labels csv": Reader(write_file("l.csv", table), read),
        "labels json": Reader(write_file("l.jsonl", rows), read),
    }


def text_pair_readers() -> dict[str, Reader]:
    from embeddings.corpora import Corpus, PairFormat

    def read(path: Path) -> int:
        return sum(map(len, Corpus(path, pairs=PairFormat()).pair_rows()))

    def read_ratings(path: Path) -> int:
        columns = PairFormat(left="a", right="b", negative="c", rating="r")
        return sum(map(len, Corpus(path, pairs=columns).pair_rows()))

    rated = "a,b,c,r\n" + '"the, king",the queen,a dog,4.5\né,日本,x,1\n' * 20
    return {
        "pairs tsv": Reader(write_file("p.tsv", "the king\tthe queen\na dog\td'été 日本\n" * 30), read),
        "pairs csv": Reader(write_file("p.csv", rated), read_ratings),
    }


def study_reader() -> Reader:
    from embeddings.eval.tuning.study_folder import StudyFolder, Trial

    def make(folder: Path) -> Path:
        study = StudyFolder.create(folder / "s", {"trainer": "cbow", "seed": 1}, resume=False, force=False)
        for number in range(1, 6):
            study.add(
                Trial(number, {"dim": 4 * number}, "complete", 0.5, 1.0, epoch_scores={1: 0.25}, values={"dim": 4.5})
            )
        return folder / "s"

    return Reader(make, lambda path: StudyFolder.open(path).trials)


def remote_reader(kind: str) -> Reader:
    """A file of a web server or an object of S3, whose answers (headers and content) are the files of a folder."""
    from embeddings.support.remote import requests
    from embeddings.support.remote.copies import local_copy

    names = {b"GET /text.txt": "web", b"HEAD": "head", b"GET /bucket?": "list", b"GET /bucket/": "object"}
    listed = (
        b'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>f/</Prefix>'
        b"<KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>f/model.json</Key>"
        b'<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"a"</ETag><Size>4000</Size></Contents>'
        b"</ListBucketResult>"
    )
    text = (TEXT.encode() * 2)[:4000]
    found = b"HTTP/1.1 200 OK\r\n"
    place = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3999/4000\r\n"
    first = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-0/4000\r\n"
    answers = {
        "web": {"status": (first, text[:1]), "web": (place, text)},
        "s3": {"head": (found, text), "list": (found, listed), "object": (place, text)},
    }[kind]
    folder: list[Path] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b"".join(iter(self.rfile.readline, b"\r\n"))
            name = next((name for start, name in names.items() if head.startswith(start)), "status")
            name = "status" if b"range: bytes=0-0\r" in head.lower() else name
            path = folder[-1] / name
            answer = path.read_bytes() if path.is_file() else b""
            with contextlib.suppress(OSError):
                self.wfile.write(answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if name == "head" else answer)

    def make(place: Path) -> Path:
        (place / "answers").mkdir()
        for name, (head, content) in answers.items():
            head += b'ETag: "a"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nConnection: close\r\n'
            (place / "answers" / name).write_bytes(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)
        return place / "answers"

    def read(path: Path) -> None:
        folder.append(path)
        if not hasattr(Handler, "server_port"):
            server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
            server.daemon_threads, Handler.server_port = True, server.server_address[1]
            threading.Thread(target=server.serve_forever, daemon=True).start()
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))  # a server may state any size
            requests.FIRST_WAIT = 0.0
            os.environ |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{Handler.server_port}", "AWS_REGION": "us-east-1"}
            os.environ |= {"AWS_NO_SIGN_REQUEST": "1", "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1"}
            os.environ["EMBEDDINGS_REMOTE_TIMEOUT"] = "1"
        if kind == "web":
            em.Corpus(f"http://127.0.0.1:{Handler.server_port}/text.txt").encode()
        else:
            copy = local_copy("s3://bucket/f")
            assert copy.is_file() or all(file.resolve().is_relative_to(copy.resolve()) for file in copy.rglob("*"))

    return Reader(make, read)


def list_readers() -> dict[str, Reader]:
    from embeddings.corpora.phrases.phrase import Phrase, phrase_schema, to_phrase_table
    from embeddings.corpora.phrases.phrase_list import phrases_from_table, read_phrases
    from embeddings.corpora.vocabulary import read_vocabulary_file as read_vocabulary
    from embeddings.corpora.vocabulary import write_vocabulary_file as write_vocabulary
    from embeddings.support.arrow import read_table, write_table
    from embeddings.support.text_lines import read_text_lines

    phrases = em.corpora.PhraseList([Phrase(("new", "york"), 9, 1.5, "noun-noun"), ("the", "old", "town")])

    def vocabulary(name: str) -> Callable[[Path], Path]:
        def make(folder: Path) -> Path:
            write_vocabulary(em.corpora.Vocabulary(["a", "été", "c"], [9, 5, 1]), folder / name)
            return folder / name

        return make

    def write_phrases(folder: Path) -> Path:
        phrases.save(folder / "p.tsv")
        return folder / "p.tsv"

    def write_phrase_table(folder: Path) -> Path:
        write_table(to_phrase_table(phrases), folder / "p.arrow")
        return folder / "p.arrow"

    def read_phrase_table(path: Path) -> Any:
        return phrases_from_table(read_table(path, "phrase table", phrase_schema()))

    return {
        "vocabulary arrow": Reader(vocabulary("v.arrow"), read_vocabulary),
        "vocabulary text": Reader(vocabulary("v.txt"), read_vocabulary),
        "phrase list": Reader(write_phrases, read_phrases),
        "phrase table": Reader(write_phrase_table, read_phrase_table),
        "word list": Reader(
            write_file("w.txt", "king\nqueen\nété\n"), lambda path: read_text_lines(path, "list of words")
        ),
    }


def index_reader(name: str, *, fix_checksum: bool) -> Reader:
    """A saved index; with `fix_checksum` only the checks after the checksum can refuse it."""
    from embeddings.support.records import checksum
    from embeddings.vectors.index import RECORD, TENSORS

    kind, settings = INDEXES[name]

    def make(folder: Path) -> Path:
        em.build_index(vectors(), kind, **settings).save(folder / "i")
        return folder / "i"

    def read(path: Path) -> None:
        if fix_checksum and (path / TENSORS).is_file():
            replace_checksum(path / RECORD, checksum(path / TENSORS))
        em.load_index(path, vectors(), allow_faiss=True).search(vectors().matrix[:5], top=3)

    return Reader(make, read)


def replace_checksum(record: Path, checksum: str) -> None:
    try:
        content = json.loads(record.read_text())
        content["checksum"] = checksum
        record.write_text(json.dumps(content))
    except (OSError, ValueError, TypeError, RecursionError):
        return


def checkpoint_reader(trainer: str, *, fix_checksum: bool) -> Reader:
    """A checkpoint from which a run is resumed."""
    from interrupted_runs import interrupted_after

    text = em.Corpus(TEXT.split("\n") * 40)
    settings = {**SMALL, "epochs": 2, "shuffle": True}

    def make(folder: Path) -> Path:
        with interrupted_after(1):
            try:
                em.train(trainer, text, checkpoints=em.Checkpoints(folder / "c"), **settings)
            except em.training.Interrupted:
                return folder / "c"
        raise AssertionError("the run was not interrupted")

    def read(path: Path) -> None:
        if fix_checksum:
            replace_state_checksum(path)
        em.train(trainer, text, checkpoints=em.Checkpoints(path), resume=True, **settings)

    return Reader(make, read)


def replace_state_checksum(path: Path) -> None:
    """Recompute the checksum of the state, so that only the checks after it can refuse it."""
    from embeddings.support import tensors
    from embeddings.training.checkpoints import checksum

    for record in path.glob("*/checkpoint.json"):
        try:
            content = json.loads(record.read_text())
            values = {name: value for name, value in content["values"].items() if name != "checksum"}
            arrays = tensors.load(record.parent / "tensors.safetensors")
            content["values"]["checksum"] = checksum(arrays, values)
            record.write_text(json.dumps(content))
        except (OSError, ValueError, TypeError, LookupError, RecursionError, EmbeddingsError):
            continue


FILES_WITH_FIELDS: dict[str, Alter] = {
    **{f"format {form}": alter_arrow for form in ("arrow", "arrow int8")},
    "format model2vec": alter_folder,
    "format npy": alter_npy,
    **{f"format {form}": alter_parquet for form in ("parquet", "parquet int8")},
    **{f"format {form}": alter_tensors for form in ("safetensors", "safetensors int8")},
    **{f"corpus {kind}": alter_folder for kind in ("parquet", "arrow file", "tsv")},
    **{f"index {name}, sum fitted": alter_folder for name in ("exact", "hamming")},
    **{f"checkpoint {name}, sum fitted": alter_folder for name in ("skipgram", "paragraph-dbow")},
    **{
        f"model {name}": alter_folder
        for name in ("skipgram", "fasttext", "sembei", "paragraph-dbow", "paragraph-dm", "tensor-indexing")
    },
    **dict.fromkeys(("vocabulary arrow", "vocabulary text", "phrase list", "phrase table"), alter_folder),
    "format fasttext": alter_fasttext,
    "classifier dense": alter_fasttext,
    "classifier quantised": alter_fasttext,
    "encoded corpus": alter_encoded_corpus,
}


def safetensors_reader() -> Reader:
    """Any safetensors file, read as by the library or refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    from embeddings.errors import FormatError
    from embeddings.support import tensors

    def make(folder: Path) -> Path:
        tensors.save({"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3), "c": np.zeros((0, 2))}, folder / "t")
        return folder / "t"

    def read(path: Path) -> None:
        expected = expected_error = None
        try:
            expected = load(path.read_bytes())
        except (SafetensorError, KeyError, TypeError, ValueError) as error:  # KeyError: a type that numpy lacks
            expected_error = error
        try:
            arrays = tensors.load(path)
        except FormatError as error:
            if expected is None or any(text in str(error) for text in STRICTER):
                raise
            raise AssertionError("only the library reads it") from error
        assert expected is not None, f"only the library refuses it: {expected_error}"
        assert arrays.keys() == expected.keys()
        for name, array in arrays.items():
            assert (array.dtype, array.shape) == (expected[name].dtype, expected[name].shape)
            assert array.tobytes() == expected[name].tobytes()

    return Reader(make, read, alter_safetensors_header)


STRICTER = ("must start with", "occurs twice", "got [", "too big", "dimension")


def readers() -> dict[str, Reader]:
    """All readers by name; those called "fields of ..." get valid files with false content."""
    readers = damaged_file_readers()
    fields = {
        f"fields of {name}": readers[name]._replace(alter=a) for name, a in FILES_WITH_FIELDS.items() if name in readers
    }
    return {**readers, **fields, "fields of any safetensors": safetensors_reader()}


def damaged_file_readers() -> dict[str, Reader]:
    """The readers of files with mutated bytes."""
    return {
        **{f"format {form}": format_reader(form) for form in FORMAT_OPTIONS if is_installed(form)},
        "classifier dense": classifier_reader("softmax"),
        "classifier quantised": classifier_reader("hierarchical softmax", quantised=True, pruned=11, qout=True),
        "model skipgram": model_reader("skipgram"),
        "model fasttext": model_reader("fasttext", buckets=50),
        "model sembei": model_reader("sembei", max_n=2, per_length="all", compositional=True),
        "model paragraph-dbow": model_reader("paragraph-dbow"),
        "model paragraph-dm": model_reader("paragraph-dm", combine="concat"),
        "model tensor-indexing": model_reader("tensor-indexing", min_phrases=0),
        **corpus_readers(),
        **dataset_readers(),
        **list_readers(),
        **labelled_text_readers(),
        **text_pair_readers(),
        "study folder": study_reader(),
        **{f"remote {kind}": remote_reader(kind) for kind in ("web", "s3")},
        **{f"index {name}": index_reader(name, fix_checksum=False) for name in INDEXES},
        **{f"index {name}, sum fitted": index_reader(name, fix_checksum=True) for name in INDEXES},
        "checkpoint skipgram": checkpoint_reader("skipgram", fix_checksum=False),
        "checkpoint paragraph-dbow, sum fitted": checkpoint_reader("paragraph-dbow", fix_checksum=True),
        "checkpoint skipgram, sum fitted": checkpoint_reader("skipgram", fix_checksum=True),
    }

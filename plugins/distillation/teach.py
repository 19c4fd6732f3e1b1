"""Vectors of texts by a teacher, as a Parquet table that `distill` reads.

Texts are encoded in groups. Each group is a file in the folder OUT.part until all are done, so that an interrupted or
killed run continues after its last complete group. Of this folder, only files that a run writes are ever removed.
"""

import json
import os
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import Role
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.reader import SourceReader, is_table, read_texts
from embeddings.corpora.reading.record_rows import batches_of
from embeddings.corpora.reading.sources import File, Source, file_statuses, resolve_source
from embeddings.corpora.reading.text_block import TextBlock, text_batches
from embeddings.corpora.reading.text_vectors import TEACHERS, split_weights, text_vectors, weighted
from embeddings.corpora.vocabulary import LINE
from embeddings.errors import CorpusError, EmbeddingsError, OutputError, S, SettingError, marked
from embeddings.support.arrow import pa
from embeddings.support.files import atomic_write, check_file, check_own_folder
from embeddings.support.foreign_files import format_errors
from embeddings.support.imports import import_extra
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.records import read_json, write_json

Encode = Callable[[list[str]], Any]  # from texts to an array (texts, dim)
GROUP = 4096  # texts that are encoded at a time, ordered by length
PART = 256  # texts that a teacher gets at a time, between which progress is shown
BATCH = 32  # texts that a network reads at a time
MAX_TOKENS = 512
RECORD = "input.json"
GROUP_NAME = re.compile(r"\d{6}\.parquet")
SCRATCH_NAME = re.compile(r"\.\d{6}\.parquet\..*\.partial")  # folders that a killed run leaves
ONNX, MODULES = ("model.onnx", "onnx/model.onnx"), "modules.json"
MEAN_POOLING, FIRST_TOKEN = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
WORD = re.compile(r"\w+")
MAX_SHARE = 0.1  # of the texts that a content word may occur in
MIN_JACCARD = 0.5
SEEN_LINES = 100  # of a text file, from which a vocabulary is recognised


def teach(
    texts: Any, encode: Encode | list[tuple[Encode, float]], out: str | os.PathLike[str], *,
    text_column: str | None = None, name: str | Sequence[str] = "",
    exclude: Sequence[str | os.PathLike[str]] = (), force: bool = False, progress: ProgressOption = None,
) -> int:  # fmt: skip
    """Write the texts and their vectors, as float16 unit vectors, to a Parquet file; returns the number of texts.

    Empty texts are left out. If an earlier run with the same arguments ended early, it is continued.

    Arguments:
        texts: the path of a table, a text file with a text a line or an output of `embeddings vocabulary`, or several
            paths; or an iterable of texts.
        encode: a function from a list of texts to their vectors, an array (texts, dim), such as `encode` of
            sentence-transformers. Of several teachers a list of functions and weights, such as [(a, 1), (b, 0.5)]: the
            vectors are their unit vectors side by side, each times its weight, as a unit vector.
        out: the file, with the columns text and embedding, for `train distill` and `index`. Files of vectors have
            the columns word and vector.
        text_column: the text column of tables.
        name: of the teacher, or a list of names; they are recorded in the file and in models of `train distill`, and
            only a run with the same names is continued.
        exclude: leave out texts that share at least half of their content words with a text of this file, such as a
            test set: a table, or a text file with texts in lines or cells separated by tabs. In Python several files.
        force: replace existing output, and do not continue an earlier run.
        progress: as for `embeddings.train`.

    Raises:
        CorpusError: there are no texts, or they cannot be read.
        EmbeddingsError: the teacher fails, or returns other than one finite vector for each text; repeat the call to
            continue.
        OutputError: the file exists, or cannot be written.
        SettingError: a weight is not positive, or two teachers have one name.
    """
    names = [name] if isinstance(name, str) else list(name)
    encode, weights = side_by_side(encode) if isinstance(encode, list) else (encode, [1.0])
    teachers = dict(zip(names, weights, strict=False)) if any(names) else {}
    if teachers and not len(teachers) == len(names) == len(weights):
        raise SettingError(f"each of {len(weights)} teachers must have a name of its own, got {', '.join(names)}")
    target = check_file(out, force=force)
    given: list[Any] = list(texts) if isinstance(texts, tuple) else [texts]
    sources = [source for one in given for source in resolve_source(one)]
    excluded = [os.fspath(path) for path in exclude]
    networks = [Path(one, file) for one in names for file in (*ONNX, "tokenizer.json", MODULES, "model.safetensors")]
    files: list[str | Path] = [*excluded, *(path for path in networks if path.is_file())]
    statuses = [[str(file), os.stat(file).st_size, os.stat(file).st_mtime_ns] for file in files if os.path.isfile(file)]
    # teachers in order: their vectors stand side by side
    settings = {"text_column": text_column, "name": [names, weights], "files": statuses, "group_size": GROUP}
    is_near = near_texts(excluded)
    folder, record = earlier_groups(target, sources, settings, force)

    def kept() -> Iterator[str]:
        return (text for text in non_empty_texts(sources, text_column) if not is_near(text))

    paths, done, dim = list[Path](), 0, 0
    with showing(progress, "encoding", "texts") as shown:
        can_count = shown is not None and record["input"] is not None  # files, which can be read twice
        total = sum(1 for _ in kept()) if can_count else None

        def report(earlier: int, count: int) -> None:
            if shown is not None:
                shown(earlier + count, total)

        for number, group in enumerate(batches_of(kept(), GROUP)):
            paths.append(path := folder / f"{number:06}.parquet")
            dim_before, dim = dim, group_dim(path, group)
            if not dim or dim_before not in (0, dim):
                where = f"texts {done + 1:,} to {done + len(group):,}"
                vectors = encode_group(encode, group, dim_before, where, partial(report, done))
                dim = vectors.shape[1]
                if not (folder / RECORD).exists():  # only now, so that a teacher that fails at once leaves nothing
                    with atomic_write(folder, folder=True) as temporary:  # never without its record
                        write_json(temporary / RECORD, record)
                with atomic_write(path, force=True) as temporary:
                    pa.parquet.write_table(text_vectors(group, vectors), temporary)
            done += len(group)
    if not done:
        raise CorpusError(f"{', '.join(source.name for source in sources)} has no texts")
    schema = pa.parquet.read_schema(paths[0]).with_metadata({TEACHERS: json.dumps(teachers)} if teachers else None)
    # Groups are removed only when the output is complete, so that a run killed before loses none of them.
    with atomic_write(target, force=force) as temporary, pa.parquet.ParquetWriter(temporary, schema) as writer:
        for path in paths:
            writer.write_table(pa.parquet.read_table(path))
    remove_groups(folder)
    return done


def earlier_groups(
    target: Path, sources: list[Source], settings: dict[str, Any], force: bool
) -> tuple[Path, dict[str, Any]]:
    """The folder of groups, with those of an earlier run with the same input, and the record of this run.

    Raises OutputError if another input has groups there, or if something there is not of an earlier run.
    """
    folder, statuses = target.with_name(f"{target.name}.part"), file_statuses(sources)
    identity = None if statuses is None else [[str(part) for part in status.identity] for status in statuses]
    record = {"input": identity, **settings}
    check_own_folder(folder, RECORD, {entry.name for entry in own_entries(folder)}, "run of teach", force=True)
    if (folder / RECORD).exists():
        earlier = read_json(folder / RECORD)
        is_own = isinstance(earlier, dict) and earlier.keys() == record.keys()
        if not is_own or (earlier != record and not force):
            remedy = f"set {S.force(True)} to start again" if is_own else "choose another output"
            raise OutputError(f"{folder} is of another input or teacher: {remedy}")
        if not force and identity is not None:
            return folder, record
    remove_groups(folder)
    return folder, record


def own_entries(folder: Path) -> list[Path]:
    """What a run has written into its folder of groups: its record, groups, and folders of killed writers."""
    entries = [one for one in folder.iterdir() if not one.is_symlink()] if folder.is_dir() else []
    files = [one for one in entries if one.is_file() and (one.name == RECORD or GROUP_NAME.fullmatch(one.name))]
    return files + [one for one in entries if one.is_dir() and SCRATCH_NAME.fullmatch(one.name)]


def group_dim(path: Path, texts: list[str]) -> int:
    """The dimension of the vectors in the file of a group; 0 if it is missing, or does not hold these texts."""
    if not path.exists():
        return 0
    try:
        table = pa.parquet.read_table(path)
        vectors = table["embedding"].combine_chunks()
        is_whole = vectors.type.value_type == pa.float16() and not vectors.null_count
        if is_whole and np.isfinite(vectors.flatten().to_numpy()).all() and table["text"].to_pylist() == texts:
            return int(vectors.type.list_size)
    except (OSError, KeyError, AttributeError, pa.ArrowException):  # AttributeError: the type of another column
        pass
    log.warning("%s is not as it was written; its texts are encoded again", path)
    return 0


def remove_groups(folder: Path) -> None:
    """Remove what runs have written into their folder, and the folder unless there is anything else."""
    for entry in own_entries(folder):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    with suppress(OSError):  # not empty
        folder.rmdir()


def near_texts(paths: Sequence[str]) -> Callable[[str], bool]:
    """A function that returns whether a text is near a table cell or a text line in files.

    The Jaccard index of their sets of content words is 0.5 or more. Words of more than a tenth of the texts in the
    files are not content words.
    """
    sets = set[frozenset[str]]()
    for source in (source for path in paths for source in resolve_source(path)):
        sets.update(frozenset(WORD.findall(cell.lower())) for cell in text_cells(source))
    counts = Counter(chain.from_iterable(sets))
    frequent = {word for word, count in counts.items() if count > max(1, MAX_SHARE * len(sets))}
    sets_with: dict[str, list[frozenset[str]]] = defaultdict(list)
    for words in {words - frequent for words in sets}:
        for word in words:
            sets_with[word].append(words)

    def is_near(text: str) -> bool:
        words = set(WORD.findall(text.lower())) - frequent
        shared = Counter(other for word in words for other in sets_with.get(word, ()))
        return any(count >= MIN_JACCARD * len(words | other) for other, count in shared.items())

    return is_near


def text_cells(source: Source) -> Iterator[str]:
    """Yield the cells of a table that hold text, or the lines of a text file, cut at tabs."""
    decoder, reader = Utf8Decoder("strict", source.name), SourceReader("strict")
    # What recognises the type reads on, as a pipe is read once.
    if not is_table(source, opener=reader.opener):
        yield from chain.from_iterable(
            text.split("\t") for text in lines_of(text_batches(reader.read(source)), source.name)
        )
        return
    with reader.open_table(source, decoder) as (table, _):
        for batch in table.read([(name, Role.TEXT) for name in table.text_columns]):
            for cells in batch.arrays:
                yield from (cell for cell in cells.to_pylist() if isinstance(cell, str))


def non_empty_texts(sources: list[Source], text_column: str | None) -> Iterator[str]:
    """Yield the texts of sources without white space around them, and the words of vocabularies.

    A text file is a vocabulary if its first lines are words and falling counts.
    """
    for source in sources:
        texts = filter(None, lines_of(read_texts([source], text_column=text_column), source.name))
        lines = list(islice(texts, SEEN_LINES))
        counts = [int(match[2]) for match in map(LINE.fullmatch, lines) if match]
        is_file = isinstance(source, File) and source.name.endswith(".txt")
        if is_file and len(counts) == len(lines) > 1 and counts == sorted(counts, reverse=True):
            yield from (match[1] for match in map(LINE.fullmatch, chain(lines, texts)) if match)
        else:
            yield from chain(lines, texts)


def lines_of(blocks: Iterable[TextBlock], name: str) -> Iterator[str]:
    """Yield the texts of blocks without white space around them; `name` is that of their source."""
    for block in blocks:
        block.check_text(name, "texts")
        yield from (block.data[first:stop].decode().strip() for first, stop in pairwise(block.starts.tolist()))


def encode_group(
    encode: Encode, texts: list[str], dim: int, where: str, report: Callable[[int], object]
) -> NDArray[np.float16]:
    """The unit vectors of texts, which the teacher gets ordered by length, the longest first, in parts."""
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    parts: list[NDArray[Any]] = []
    try:
        for start in range(0, len(texts), PART):
            report(start)
            parts.append(np.asarray(encode([texts[row] for row in order[start : start + PART]])))
        report(len(texts))
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {marked(error)}".split())
        raise EmbeddingsError(f"the teacher failed at {where}: {reason}; repeat the command to continue") from error
    shape = (dim,) if dim else parts[0].shape[1:]
    # Part by part: a row too many in one and one too few in another would add up.
    for start, part in zip(range(0, len(texts), PART), parts, strict=True):
        size = min(PART, len(texts) - start)
        if part.dtype.kind != "f" or len(shape) != 1 or part.shape != (size, *shape):
            expected = f"a float array ({size}, {dim or 'dim'})"
            raise EmbeddingsError(f"the teacher must return {expected} for {where}, got {part.dtype} {part.shape}")
    vectors = np.concatenate(parts)
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        row = order[int(np.argmin((np.isfinite(norms) & (norms > 0))[:, 0]))]
        raise EmbeddingsError(f"the teacher returned a zero or infinite vector for {texts[row]!r:.60} ({where})")
    units = np.empty(vectors.shape, np.float16)
    units[order] = vectors / norms
    return units


def side_by_side(teachers: Sequence[tuple[Encode, float]]) -> tuple[Encode, list[float]]:
    """The teacher whose vectors are the unit vectors of several side by side, times their weights; and the weights."""
    encoders, weights = split_weights(teachers)
    if len(encoders) == 1:
        return encoders[0], [1.0]

    def encode_all(texts: list[str]) -> NDArray[np.float32]:
        parts = [np.asarray(encode(texts), np.float32) for encode in encoders]
        for number, part in enumerate(parts, 1):
            if part.ndim != 2 or len(part) != len(texts):
                raise ValueError(f"teacher {number} returned an array {part.shape} for {len(texts)} texts")
        with np.errstate(divide="ignore", invalid="ignore"):  # vectors of zeros, which are refused with their text
            return np.hstack([weighted(*one) for one in zip(parts, weights, strict=True)])

    return encode_all, weights


def load_teacher(name: str, threads: int | None = None) -> Encode:
    """A teacher: the folder of a network (ONNX, or of sentence-transformers), or `python:module:function`."""
    if not name.startswith("python:"):
        return load_network(Path(name), threads)
    module, _, function = name.removeprefix("python:").partition(":")
    # As `python -m` does: the module may be in the current folder.
    sys.path.insert(0, os.getcwd())
    try:
        encode: Any = import_module(module)
        for part in function.split("."):
            encode = getattr(encode, part)
    except (Exception, SystemExit) as error:  # of a module that may be the user's
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingError(f"{S.model(name)} must be python:module:function[:WEIGHT]: {reason}") from None
    finally:
        sys.path.pop(0)
    return encode  # type: ignore[no-any-return]


def load_network(folder: Path, threads: int | None) -> Encode:
    """A sentence encoder in a folder, run by onnxruntime: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`.

    The vector of a text is the output `sentence_embedding`, or the mean of the first output over the tokens; that of
    the first token, if `1_Pooling/config.json` says so.
    """
    path = next((folder / name for name in ONNX if (folder / name).exists()), None)
    if path is None and (folder / MODULES).exists():
        return load_sentence_encoder(folder, threads)
    if path is None or not (folder / "tokenizer.json").exists():
        known = "model.onnx and tokenizer.json, or of sentence-transformers"
        raise SettingError(f"{S.model(folder)} must be a folder with {known}")
    onnxruntime = import_extra("onnxruntime", "teacher", "a teacher")
    tokenizers = import_extra("tokenizers", "teacher", "a teacher")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    with format_errors(folder):
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    inputs, names = ([one.name for one in nodes] for nodes in (session.get_inputs(), session.get_outputs()))
    output = "sentence_embedding" if "sentence_embedding" in names else names[0]
    config, pooling = folder / "sentence_bert_config.json", folder / "1_Pooling/config.json"
    max_tokens = read_json(config).get("max_seq_length") if config.exists() else None
    tokenizer.enable_truncation(max_tokens or MAX_TOKENS)
    pad = (tokenizer.padding or {}).get("pad_token", "[PAD]")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad) or 0, pad_token=pad)
    modes = {mode for mode, is_used in (read_json(pooling) if pooling.exists() else {}).items() if is_used is True}
    unknown = {mode for mode in modes if mode.startswith("pooling_mode_")} - {MEAN_POOLING, FIRST_TOKEN}
    problem = "has a dense layer after pooling" if list(folder.glob("*_Dense")) else ""
    if unknown or len(modes & {MEAN_POOLING, FIRST_TOKEN}) > 1:
        problem = f"pools tokens by {', '.join(sorted(modes))}"
    if problem and output != "sentence_embedding":
        raise SettingError(f"{S.model(folder)} {problem}: only the mean or the first token is supported")
    uses_first = FIRST_TOKEN in modes

    def encode_batch(texts: list[str]) -> NDArray[np.float32]:
        encodings = tokenizer.encode_batch(texts)
        arrays = {
            "input_ids": np.array([one.ids for one in encodings], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encodings], np.int64),
            "token_type_ids": np.array([one.type_ids for one in encodings], np.int64),
        }
        tokens = session.run([output], {name: arrays[name] for name in inputs})[0]
        if tokens.ndim == 2 or uses_first:
            return np.asarray(tokens if tokens.ndim == 2 else tokens[:, 0], np.float32)
        mask = arrays["attention_mask"][..., None].astype(np.float32)
        return np.asarray((tokens * mask).sum(axis=1) / mask.sum(axis=1), np.float32)

    return lambda texts: np.concatenate([encode_batch(batch) for batch in batches_of(texts, BATCH)])


def load_sentence_encoder(folder: Path, threads: int | None) -> Encode:
    """A folder of sentence-transformers, run by that library, which reads safetensors only and no code from it."""
    remedy = "pip install 'embeddings-toolkit[sentence-transformers]', or name a function, python:module:function"
    library = import_extra("sentence_transformers", None, f"{folder}, which has no model.onnx,", remedy)
    import_module("transformers.utils.logging").disable_progress_bar()  # of loading weights
    if threads is not None:
        import_module("torch").set_num_threads(threads)
    read_json(folder / MODULES)  # its error names the file, that of the library does not
    with format_errors(folder):
        model = library.SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    return lambda texts: model.encode(texts, batch_size=BATCH, show_progress_bar=False)

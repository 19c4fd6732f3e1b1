"""File formats: what a package declares to add one, the format of a path, and writing files atomically."""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from embeddings import registry
from embeddings.corpora.reading.compression import read_head
from embeddings.errors import EmbeddingsError, FormatError, OutputError, S, SettingError
from embeddings.support.cosine import row_blocks
from embeddings.support.files import atomic_write, atomic_write_all, check_output
from embeddings.support.foreign_files import format_errors
from embeddings.support.logs import log
from embeddings.support.output_errors import check_other_files
from embeddings.vectors.word_vectors import WordVectors


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file or folder format, declared by an entry point of the group `embeddings.formats`.

    Name the entry point after the format, and let it point to an instance:

        [project.entry-points."embeddings.formats"]
        lines = "my_package.lines:FORMAT"

    Listing the formats imports all of them, so import heavy libraries inside the functions. Vectors, models and
    classifiers are `Vectors`, `Model` and `LabelPredictor`; the annotations have no names that are defined above.

    Arguments:
        summary: one line for listings.
        read: `read(path, *, allow_pickle, errors)` returns the vectors. It raises `FormatError`, in one line, if the
            file is broken. `errors`, which the caller checks, is one of `WordErrors` and applies to words
            that are not UTF-8. Only a format that is a pickle needs `allow_pickle`.
        write: `write(vectors, path, **options)` writes a new file, or fills an empty folder; the caller makes that
            atomic, and refuses NaN and infinity. Its keyword arguments, such as `dtype`, are the options of the format.
            It raises `FormatError` if the format cannot store a word.
        sniff: `sniff(start)` returns the confidence, from 0 to 1, that a file which starts with these (decompressed)
            bytes has this format, broken or not. Required of a file format.
        sniff_folder: `sniff_folder(path)` returns the same for a folder. Required of a folder format.
        extensions: the file extensions that select the format for output, such as ".npy". Folders have none.
        files: of a folder format, the paths in the folder that `write` may create, such as "vocab/vectors"; a folder
            with other files is not replaced. None if they depend on the vectors.
        companions: the extensions of further files that `write` puts next to its path, such as ".txt".
        stores_counts: whether a file stores word counts itself.
        stores_pooling: whether a file stores how vectors of texts are pooled by default.
        describe: `describe(path)` returns properties by name for `embeddings info`, read from the start of the file.
        read_model: as `read`, for formats that store whole models.
        has_model: `has_model(path)` returns whether a file of this format contains a whole model.
        read_classifier: `read_classifier(path, *, errors)` returns the classifier in a file, for formats that have
            classifiers.
        write_classifier: `write_classifier(classifier, path)` writes a classifier.
        write_model: `write_model(model, path)` writes a whole model.
    """

    summary: str
    read: Callable[..., Any]
    write: Callable[..., None]
    sniff: Callable[[bytes], float] | None = None
    sniff_folder: Callable[[Path], float] | None = None
    extensions: tuple[str, ...] = ()
    files: frozenset[str] | None = None
    companions: tuple[str, ...] = ()
    stores_counts: bool = False
    stores_pooling: bool = False
    describe: Callable[[Path], dict[str, Any]] = lambda _: {}
    read_model: Callable[..., Any] | None = None
    has_model: Callable[[Path], bool] = lambda _: False
    read_classifier: Callable[..., Any] | None = None
    write_model: Callable[[Any, Path], None] | None = None
    write_classifier: Callable[[Any, Path], None] | None = None

    def __post_init__(self) -> None:
        if (self.sniff is None) == (self.sniff_folder is None):
            raise TypeError("a Format requires either sniff, for files, or sniff_folder, for folders")

    @property
    def is_folder(self) -> bool:
        """Whether the format is a folder, not a file."""
        return self.sniff_folder is not None


WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]")
TEXT_POOL = "text_pool"  # where a file stores how vectors of texts are pooled
COUNTS_FILE = ".vocab"  # the ending of a second file, with counts
WordErrors = Literal["strict", "replace", "ignore", "backslashreplace"]  # what to do with words that are not UTF-8
NUMBER = re.compile(rb"[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
MAX_DIM = 1 << 20  # a row of 4 MiB; used where the file size implies no limit
MAX_TEXT_DIM = 1 << 16  # components of a line of text, each of which is an Arrow column while it is read
MAX_WORD_BYTES = 1 << 15  # formats are recognised by the start of a file, which must contain a whole word


def is_number(field: bytes) -> bool:
    """Whether a field is a decimal number; NaN and infinity count."""
    return NUMBER.fullmatch(field) is not None


def encode_words(vectors: WordVectors, *, format: str, forbidden: re.Pattern[str] | None = None) -> Iterator[bytes]:
    """The words in UTF-8; refuses empty ones, `forbidden` characters, invalid Unicode, and more than 32 KiB."""
    for word in vectors.words:
        match = forbidden.search(word) if forbidden else None
        try:
            encoded = word.encode("utf-8")
        except UnicodeEncodeError:
            encoded = None
        if not encoded or match or len(encoded) > MAX_WORD_BYTES:
            problem = f"contains {match[0]!r}" if match else f"has {len(encoded or b'')} bytes, above {MAX_WORD_BYTES}"
            problem = "is not valid Unicode" if encoded is None else problem if word else "is empty"
            raise FormatError(f"the {format} format cannot store the word {word!r:.80}, which {problem}")
        yield encoded


def decode_words(words: Sequence[bytes], errors: str, place: str, first: int) -> list[str]:
    """Decode words of a file; errors locate an invalid one by `place` and its number, counted from `first`."""
    with suppress(UnicodeDecodeError):  # decoding all at once is several times faster
        decoded = b"\n".join(words).decode("utf-8").split("\n")
        if len(decoded) == len(words):
            return decoded
    decoded = []
    try:
        decoded.extend(word.decode("utf-8", errors) for word in words)
    except UnicodeDecodeError:
        raise FormatError(
            f"{place} {first + len(decoded)}: the word {words[len(decoded)]!r:.80} is not UTF-8 (word2vec.c truncates "
            f"long words); read it with {S.errors} 'replace', 'ignore', or, to keep words distinct, 'backslashreplace'"
        ) from None
    return decoded


def check_dim(dim: int, place: object, limit: int = MAX_DIM) -> None:
    """Refuse implausibly many components."""
    if dim > limit:
        raise FormatError(f"{place}: {dim} components, but at most {limit} are supported")


def check_writable(vectors: Any) -> None:
    """Refuse to write NaN, infinity, or more components than can be read back."""
    check_dim(vectors.dim, "nothing is written")
    vectors.check_finite()


def stored_pool(vectors: Any) -> str | None:
    """How vectors of texts are pooled by default, for a file; None if as for any word vectors."""
    pool: str | None = vectors.text_pool
    return None if pool == "sif" else pool


def warn_of_pooling(vectors: Any, name: str) -> None:
    """Warn if a format does not store how vectors of texts are pooled."""
    pool = stored_pool(vectors)
    if pool is not None and not load_format(name).stores_pooling:
        log.warning("the %s format does not store that texts are pooled by %s: set %s", name, pool, S.pool(pool))


def row_chunks(vectors: WordVectors, itemsize: int) -> Iterator[np.ndarray]:
    """The matrix in contiguous chunks of bounded memory at `itemsize` bytes per component."""
    for rows in row_blocks(*vectors.matrix.shape, itemsize=itemsize):
        yield np.ascontiguousarray(vectors.matrix[rows])


def installed_formats() -> dict[str, Format]:
    """Every format that can be imported, by name, sorted; broken entry points are skipped."""
    return {name: plugin for name, plugin in registry.load_all("format") if isinstance(plugin, Format)}


def names() -> Mapping[str, tuple[str, ...]]:
    """The names of the installed formats with the file extensions that select them."""
    return {name: format.extensions for name, format in installed_formats().items()}


def load_format(name: str) -> Format:
    """The format with this name."""
    plugin: Format = registry.load("format", name)
    return plugin


def extensions() -> dict[str, list[str]]:
    """The names of the formats that each file extension selects."""
    formats = names()
    used = dict.fromkeys(extension for own in formats.values() for extension in own)
    return {extension: [name for name, own in formats.items() if extension in own] for extension in used}


def format_for_path(path: str | os.PathLike[str]) -> str:
    """The name of the format that the extension of a path selects."""
    extension, known = Path(path).suffix.lower(), extensions()
    matches = known.get(extension, [])
    if len(matches) != 1:
        listing = ", ".join(f"{ext} ({' or '.join(formats)})" for ext, formats in known.items())
        problem = f"the extension {extension!r} may mean {' or '.join(matches) or 'no format'}"
        raise FormatError(f"{path}: {problem}; set {S.format}, or use one of {listing}")
    return matches[0]


def write(
    vectors: Any,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    **options: Any,
) -> list[Path]:
    """Write vectors to a file or folder atomically.

    Arguments:
        format: the name of the format; by default the extension of the path selects it.
        force: replace an existing file, or an existing folder of the same format.
        counts: True writes word counts: in the file if the format stores them, else to a second file, the path plus
            `.vocab`, as lines "word count". False omits them. None writes them if the format stores them.
        options: of the format, such as `dtype`.

    Returns:
        The files written, or the folder.

    Raises:
        FormatError: the extension is unknown, or the format cannot store a word (the message names it).
        SettingError: the format has no such option, the counts are unknown, or a vector holds NaN or infinity.
        RegistryError: the format is unknown.
        OutputError: the path exists, cannot be written, or is a file although the format writes a folder or reversely.
    """
    name = format or format_for_path(path)
    targets = output_files(path, format=name, counts=counts, options=options)
    if counts and vectors.counts is None:
        raise SettingError("cannot write counts: these vectors have none")
    check_writable(vectors)
    composes = vectors.compose is not None
    if counts is False:
        counted, vectors = vectors, type(vectors)(vectors.word_list, vectors.matrix, word_form=vectors.word_form)
        for attribute in ("tokenizer_file", "unit_texts", "text_pool"):
            setattr(vectors, attribute, getattr(counted, attribute))
    # Vectors and counts are replaced together, so that no reader sees the counts of other vectors.
    with replacing_targets(name, targets, force=force) as temporary:
        load_format(name).write(vectors, temporary[0], **options)
        if counts and vectors.counts is not None and not load_format(name).stores_counts:
            words = encode_words(vectors, forbidden=WHITE_SPACE, format=name)
            lines = (b"%b %d\n" % pair for pair in zip(words, vectors.counts.tolist(), strict=True))
            with temporary[-1].open("wb") as stream:
                stream.writelines(lines)
    warn_of_pooling(vectors, name)
    if composes:
        log.warning("only vectors of the vocabulary are written; composing vectors for other words requires the model")
    return targets


def write_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    **options: Any,
) -> list[Path]:
    """Write a whole model if the format stores models, else its vectors; atomically.

    Arguments and errors are those of `write`. In addition it raises SettingError if `counts` is False and the format
    stores models, which always include counts.
    """
    name = format or format_for_path(path)
    write_whole = load_format(name).write_model
    if write_whole is None:
        return write(model.vectors, path, format=name, force=force, counts=counts, **options)
    targets = output_files(path, format=name, counts=counts, options=options)
    if counts is False:
        raise SettingError(f"the {name} format always stores the counts of a model")
    check_writable(model.vectors)
    with replacing_targets(name, targets, force=force) as temporary:
        write_whole(model, temporary[0], **options)
    warn_of_pooling(model.vectors, name)
    return targets


def write_classifier(
    classifier: Any, path: str | os.PathLike[str], *, format: str = "fasttext", force: bool = False
) -> None:
    """Write a classifier to a file atomically.

    Raises:
        FormatError: the format cannot store this classifier.
        SettingError: the format stores no classifiers.
        RegistryError: the format is unknown.
        OutputError: the path exists or cannot be written.
    """
    write_file = load_format(format).write_classifier
    if write_file is None:
        raise SettingError(f"the {format} format stores no classifiers; use fasttext")
    with replacing_targets(format, [Path(path)], force=force) as temporary:
        write_file(classifier, temporary[0])


def check_export(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    options: Iterable[str] = (),
) -> None:
    """Raise the errors of `write` that do not depend on the vectors."""
    name = format or format_for_path(path)
    check_targets(name, output_files(path, format=name, counts=counts, options=options), force=force)


def output_files(
    path: str | os.PathLike[str], *, format: str | None = None, counts: bool | None = None, options: Iterable[str] = ()
) -> list[Path]:
    """The files that `write` creates, the path itself first."""
    name, target = format or format_for_path(path), Path(path)
    plugin = load_format(name)
    _, _, *parameters = inspect.signature(plugin.write).parameters  # the first two are the vectors and the path
    for option in options:
        if option not in parameters:
            raise SettingError(f"the {name} format has no option {option}; omit it")
    targets = [target, *map(target.with_suffix, plugin.companions)]
    if counts and not plugin.stores_counts:
        if plugin.is_folder:
            raise SettingError(f"the {name} format cannot store counts; omit them")
        targets.append(target.with_name(target.name + COUNTS_FILE))
    return targets


def check_targets(name: str, targets: list[Path], *, force: bool) -> None:
    """Refuse targets that cannot be written or must not be replaced, such as companion files of another file."""
    plugin = load_format(name)
    for target in targets:
        check_output(target, force=force)
        # `force` is meant for vectors, not for a text that happens to have the name of their companion.
        is_companion = target.suffix in plugin.companions and target is not targets[0]
        is_own = is_pair_of_words(targets[0], target, plugin) if is_companion else targets[0].exists()
        if target.exists() and not is_own:
            raise OutputError(f"{target} exists and does not belong to {targets[0]}; move it away")
        if not plugin.is_folder:
            continue
        is_empty = not target.exists() or (target.is_dir() and not any(target.iterdir()))
        if not is_empty and (not target.is_dir() or sniff(target) != name):
            raise OutputError(f"{target} is not a folder of the {name} format and is not replaced; choose another name")
        check_other_files(target, other_files(target, plugin), f"the {name} format")


def is_pair_of_words(path: Path, companion: Path, plugin: Format) -> bool:
    """Whether a file and its companion are word vectors, not a matrix of text vectors with a file of its texts.

    Words have no white space, or else both files have the time of one `write`.
    """
    try:
        words = plugin.read(path).words
        is_one_write = path.stat().st_mtime_ns == companion.stat().st_mtime_ns
        return is_one_write or not any(WHITE_SPACE.search(word) for word in words)
    except (EmbeddingsError, OSError):
        return False


def other_files(folder: Path, plugin: Format) -> set[str]:
    """The paths in a folder of files that the format does not write."""
    if plugin.files is None:
        return set()
    entries = [entry for entry in folder.rglob("*") if entry.is_symlink() or not entry.is_dir()]
    return {entry.relative_to(folder).as_posix() for entry in entries} - plugin.files


@contextmanager
def replacing_targets(name: str, targets: list[Path], *, force: bool) -> Iterator[list[Path]]:
    """Temporary paths, files or one folder, that replace all targets if the block succeeds."""
    check_targets(name, targets, force=force)
    if load_format(name).is_folder:
        with atomic_write(targets[0], force=force, folder=True) as folder:
            yield [folder]
    else:
        with atomic_write_all(targets, force=force) as files:
            yield files
            for companion in files[1:]:  # by which a later call recognises the pair
                os.utime(companion, ns=(files[0].stat().st_atime_ns, files[0].stat().st_mtime_ns))


def sniff(path: Path) -> str | None:
    """The name of the format that the content of a file or folder matches best; None if no format matches."""
    formats = installed_formats().items()
    with format_errors(path):
        if os.path.isdir(path):
            os.stat(os.path.join(path, "."))  # since Python 3.14, is_file() hides a missing permission
            scores = [(format.sniff_folder(path), name) for name, format in formats if format.sniff_folder]
        else:
            start = read_head(path)
            scores = [(format.sniff(start), name) for name, format in formats if format.sniff]
    confidence, name = max(scores, key=lambda pair: pair[0], default=(0.0, ""))
    return name if confidence > 0 else None

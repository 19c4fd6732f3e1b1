"""Files of other tools: each format is an entry point of the group `embeddings.formats`, ours and others' alike.

A format is a module, or any object, with what `Format` lists. To list formats and endings, all of them are
imported, so a format imports whatever is heavy inside its functions.
"""

import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from embeddings import registry
from embeddings.corpora.reading.compressed_files import start_of as start_of
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.support.files import check_output, replacing, replacing_all
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


class Format(Protocol):
    """What a format offers.

    It may offer more: `COUNTS = True` where a file holds counts itself; `BESIDE`, the endings of further files that
    `write` puts beside the one it is given; keywords of `write`, each a setting such as `dtype`, with its default;
    `describe(path) -> dict`, cheap facts of a file for `embeddings info`; and where a file holds a whole model,
    `read_model`, as `read`, and `write_model(model, path)`.

    A format that is a folder says so by `FOLDER = True`, and offers `sniff_folder(path)`, how sure it is of a folder,
    in place of `sniff`; `write` is given an empty folder to fill. It has no endings: it is asked for by its name.
    """

    SUMMARY: str
    ENDINGS: tuple[str, ...]

    def sniff(self, start: bytes) -> float:
        """How sure it is, from 0 to 1, that a file that begins so (decompressed) is of this format, broken or not."""

    def read(self, path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
        """The vectors of a file; FormatError, in one line, where it is broken."""

    def write(self, vectors: Vectors, path: Path) -> None:
        """Write a file; FormatError where the format cannot hold a word. `write` below makes it atomic."""


def names() -> Mapping[str, tuple[str, ...]]:
    """Every format that loads by name, sorted, with the endings of paths that choose it."""
    return {name: tuple(format.ENDINGS) for name, format in usable()}


def usable() -> list[tuple[str, Format]]:
    """The formats that load and offer what a format must; a stranger's that does not spoils nothing."""
    return [(name, found) for name, found in registry.loaded("format") if offers_all(found)]


def offers_all(found: Any) -> bool:
    """Whether a plugin offers what a format must."""
    sniffs = "sniff_folder" if is_folder(found) else "sniff"
    return all(hasattr(found, part) for part in ("SUMMARY", "ENDINGS", "read", "write", sniffs))


def is_folder(format: Any) -> bool:
    """Whether what a format reads and writes is a folder."""
    return bool(getattr(format, "FOLDER", False))


def by_name(name: str) -> Format:
    """A format.

    Raises:
        RegistryError: there is none of this name (the message lists those there are), or it does not load.
    """
    format: Format = registry.load("format", name)
    return format


def endings() -> dict[str, list[str]]:
    """The formats that each ending of a path may choose."""
    found: dict[str, list[str]] = {}
    for name, chosen in names().items():
        for ending in chosen:
            found.setdefault(ending, []).append(name)
    return found


def for_path(path: str | os.PathLike[str]) -> str:
    """The name of the format that a path's ending asks for.

    Raises:
        FormatError: the ending is not known (the message lists those that are), or two formats have it.
    """
    ending, known = Path(path).suffix.lower(), endings()
    found = known.get(ending, [])
    if not found:
        listed = ", ".join(f"{end} ({' or '.join(names)})" for end, names in known.items())
        raise FormatError(f"{path}: no format goes with the ending {ending!r}; use one of {listed}, or name one")
    if len(found) > 1:
        raise FormatError(f"{path}: the ending {ending!r} may mean {' or '.join(found)}; name one")
    return found[0]


def write(
    vectors: Vectors,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    **options: Any,
) -> list[Path]:
    """Write vectors to a file or folder in a format given by name or by the ending of the path; all of it or nothing.

    Arguments:
        counts: True to write counts in any case: in the file where the format holds them, else as lines "word
            count" in a second file, the path and `.vocab`. False to leave them out. None: where the file holds them.
        options: of the format, such as `dtype`.

    Returns:
        The files written, or the folder.

    Raises:
        FormatError: an unknown ending, or the format cannot hold a word (it is named).
        SettingError: the format has no such option, or counts are asked for and not known.
        RegistryError: an unknown format.
        OutputError: it exists (unless `force`), is a file for a folder or the other way round, or cannot be written; no
            folder is replaced but one of the same format, nor a file that would go beside one that is not there.
    """
    name, targets = plan(path, format=format, counts=counts, options=options)
    chosen = by_name(name)
    if counts and vectors.counts is None:
        raise SettingError("counts are asked for, and these vectors have none")
    held = vectors if counts is not False else Vectors(vectors.names, vectors.matrix)
    with placing(name, targets, force=force) as fresh:
        chosen.write(held, fresh[0], **options)
        if counts and not holds_counts(chosen):
            write_counts(vectors, fresh[-1], name)
    return targets


def write_model(
    model: "Model",
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    **options: Any,
) -> list[Path]:
    """Write a whole model where the format holds one, else its vectors; all of it or nothing.

    Arguments and errors are those of `write`; and SettingError where counts are to be left out of a whole model.
    """
    name, targets = plan(path, format=format, counts=counts, options=options)
    if not takes_models(name):
        return write(model.vectors, path, format=name, force=force, counts=counts, **options)
    if counts is False:
        raise SettingError(f"the {name} format always holds the counts of a model")
    chosen: Any = by_name(name)
    with placing(name, targets, force=force) as fresh:
        chosen.write_model(model, fresh[0], **options)
    return targets


def takes_models(name: str) -> bool:
    """Whether a format holds whole models, not only vectors."""
    return hasattr(by_name(name), "write_model")


def check(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    counts: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Refuse beforehand what `write` would refuse whatever the vectors; it raises the same."""
    name, targets = plan(path, format=format, counts=counts, options=options or {})
    check_targets(name, targets, force=force)


def check_targets(name: str, targets: list[Path], *, force: bool) -> None:
    """Refuse what cannot be written or must not be replaced.

    Raises:
        OutputError: as `write`.
    """
    for target in targets:
        check_output(target, force=force)
        if not is_folder(by_name(name)):
            continue
        if target.exists() and not target.is_dir():
            raise OutputError(f"{target} is a file, and the {name} format is a folder")
        if target.is_dir() and any(target.iterdir()) and sniff(target) != name:
            raise OutputError(f"{target} is a folder but not of the {name} format, and is not replaced")


def check_beside(targets: Sequence[Path]) -> None:
    """Refuse to replace, by what goes beside the first file, what was beside none before.

    Raises:
        OutputError: a file is there, and the first one is not.
    """
    for target in targets:
        if target.exists() and not targets[0].exists():
            raise OutputError(f"{target}, which would go beside {targets[0]}, exists and is not its own; move it away")


@contextmanager
def placing(name: str, targets: list[Path], *, force: bool) -> Iterator[list[Path]]:
    """Temporary paths, files or one folder, that all take their places when the block ends well."""
    check_targets(name, targets, force=force)
    check_beside(targets)
    if not is_folder(by_name(name)):
        with replacing_all(targets, force=force) as fresh:
            yield fresh
        return
    with replacing(targets[0], force=force, folder=True) as folder:
        yield [folder]


def check_words(words: list[str], path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Refuse beforehand what `write` would refuse of words, whatever their vectors; it raises the same."""
    with tempfile.TemporaryDirectory(prefix="embeddings-") as folder:
        small = Vectors(words, np.zeros((len(words), 1), np.float32))
        write(small, Path(folder, "words").with_suffix(Path(path).suffix), format=format)


def plan(
    path: str | os.PathLike[str], *, format: str | None, counts: bool | None, options: Mapping[str, Any]
) -> tuple[str, list[Path]]:
    """The name of the format, and the files that writing will leave, the one asked for first."""
    name, target = format or for_path(path), Path(path)
    chosen = by_name(name)
    for option in options:
        if option not in inspect.signature(chosen.write).parameters:
            raise SettingError(f"the {name} format has no {option}; leave it out")
    targets = [target, *(target.with_suffix(ending) for ending in getattr(chosen, "BESIDE", ()))]
    if counts and is_folder(chosen) and not holds_counts(chosen):
        raise SettingError(f"the {name} format holds no counts; leave them out")
    if counts and not holds_counts(chosen):
        targets.append(target.with_name(target.name + ".vocab"))
    return name, targets


def holds_counts(format: Format) -> bool:
    """Whether a file of this format holds counts itself."""
    return bool(getattr(format, "COUNTS", False))


def write_counts(vectors: Vectors, path: Path, form: str) -> None:
    """Write lines "word count", as word2vec's vocabulary files have them."""
    from embeddings.vectors.word_encoding import WHITE_SPACE, encoded_words

    assert vectors.counts is not None
    words = encoded_words(vectors, refused=WHITE_SPACE, form=form)
    with path.open("wb") as stream:
        stream.writelines(b"%b %d\n" % pair for pair in zip(words, vectors.counts.tolist(), strict=True))


def sniff(path: Path) -> str | None:
    """The name of the format that the content of a file or folder shows; None where no format knows it.

    Raises:
        FormatError: it cannot be read, or its compressed data are broken.
    """
    sure = sniffed_folder(path) if os.path.isdir(path) else sniffed(start_of(path))
    best, name = max(sure, key=lambda pair: pair[0], default=(0.0, ""))
    return name if best > 0 else None


def sniffed(start: bytes) -> list[tuple[float, str]]:
    """How sure each format of files is of one that begins so."""
    return [(format.sniff(start), name) for name, format in usable() if not is_folder(format)]


def sniffed_folder(path: Path) -> list[tuple[float, str]]:
    """How sure each format of folders is of one.

    Raises:
        FormatError: it may not be looked into.
    """
    folders: list[tuple[str, Any]] = [(name, format) for name, format in usable() if is_folder(format)]
    try:
        return [(format.sniff_folder(path), name) for name, format in folders]
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error

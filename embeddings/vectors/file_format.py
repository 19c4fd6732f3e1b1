"""The contract of file formats: what a package declares to add one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embeddings.models.classifier import Classifier
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file or folder format, declared by an entry point of the group `embeddings.formats`.

    Name the entry point after the format, and let it point to an instance:

        [project.entry-points."embeddings.formats"]
        lines = "my_package.lines:FORMAT"

    Listing the formats imports all of them, so import heavy libraries inside the functions.

    Arguments:
        summary: one line for listings.
        read: `read(path, *, allow_pickle, errors)` returns the vectors. It raises `FormatError`, in one line, if the
            file is broken. `errors` ("strict", "replace" or "ignore") applies to words that are not UTF-8. Only a
            format that is a pickle needs `allow_pickle`.
        write: `write(vectors, path, **options)` writes a new file, or fills an empty folder; the caller makes that
            atomic. Its keyword arguments, such as `dtype`, are the options of the format. It raises `FormatError` if
            the format cannot store a word.
        sniff: `sniff(start)` returns the confidence, from 0 to 1, that a file which starts with these (decompressed)
            bytes has this format, broken or not. Required of a file format.
        sniff_folder: `sniff_folder(path)` returns the same for a folder. Required of a folder format.
        extensions: the file extensions that select the format for output, such as ".npy". Folders have none.
        companions: the extensions of further files that `write` puts next to its path, such as ".txt".
        stores_counts: whether a file stores word counts itself.
        describe: `describe(path)` returns properties by name for `embeddings info`, read from the start of the file.
        read_model: as `read`, for formats that store whole models.
        has_model: `has_model(path)` returns whether a file of this format contains a whole model.
        read_classifier: `read_classifier(path, *, errors)` returns the classifier in a file, for formats that have
            classifiers.
        write_classifier: `write_classifier(classifier, path)` writes a classifier.
        write_model: `write_model(model, path)` writes a whole model.
    """

    summary: str
    read: Callable[..., "Vectors"]
    write: Callable[..., None]
    sniff: Callable[[bytes], float] | None = None
    sniff_folder: Callable[[Path], float] | None = None
    extensions: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    stores_counts: bool = False
    describe: Callable[[Path], dict[str, Any]] = lambda _: {}
    read_model: Callable[..., "Model"] | None = None
    has_model: Callable[[Path], bool] = lambda _: False
    read_classifier: Callable[..., "Classifier"] | None = None
    write_model: Callable[["Model", Path], None] | None = None
    write_classifier: Callable[["Classifier", Path], None] | None = None

    def __post_init__(self) -> None:
        if (self.sniff is None) == (self.sniff_folder is None):
            raise TypeError("a Format requires either sniff, for files, or sniff_folder, for folders")

    @property
    def is_folder(self) -> bool:
        """Whether the format is a folder, not a file."""
        return self.sniff_folder is not None

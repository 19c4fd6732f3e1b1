"""Loading vectors or whole models from a path or address; the content decides the format."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from embeddings import registry
from embeddings.corpora.reading.compression import read_head
from embeddings.corpora.reading.encodings import BYTE_ORDER_MARKS
from embeddings.corpora.reading.file_types import FOREIGN
from embeddings.corpora.vocabulary import read_vocabulary_file
from embeddings.errors import FormatError, RegistryError, RemoteError, SettingError, marked
from embeddings.models.document_vectors import DOCUMENTS
from embeddings.models.model import Model, capabilities_of
from embeddings.models.model_files import MODEL_JSON, VECTORS, read_model_json
from embeddings.settings import check_value
from embeddings.support.arrow import find_words
from embeddings.support.local_paths import local_path
from embeddings.support.logs import log
from embeddings.support.remote.address import is_remote
from embeddings.vectors import file_format
from embeddings.vectors.file_format import COUNTS_FILE, Format, WordErrors
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor

MAX_SIGNATURE = 16  # bytes


def load(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict", table: str = VECTORS
) -> Vectors:
    r"""Load vectors: of a saved model (memory-mapped), or from a file or folder in any installed format.

    If the model composes vectors for unknown words, these vectors do too.

    Arguments:
        path: a folder written by `Model.save`, or a file or folder of another tool.
        allow_pickle: read gensim's own files, which are pickles and can execute any code.
        errors: how to handle words that are not UTF-8: "strict" refuses them, "replace" replaces and "ignore" drops the
            invalid bytes, "backslashreplace" writes them as \xe9, so that words stay distinct.
        table: table of a model, such as "output" or "documents". In Python the rows of "documents" have their tags in
            place of words.

    Raises:
        FormatError: the path is missing, broken or in an unknown format.
        SettingError: the model has no such table.
    """
    check_value("errors", errors, WordErrors, {})
    place, format = resolve(path)
    if table != VECTORS:
        model = load_model(path, allow_pickle=allow_pickle, errors=errors)
        if table == DOCUMENTS:
            return model.documents
        if table not in model.tables:
            raise SettingError(f"{path} has no table {table!r}; it has {', '.join([VECTORS, *model.tables])}")
        own = model.vectors
        return Vectors(own.words, model.tables[table], counts=own.counts, word_form=own.word_form)
    if format is None:
        return Model.load(place).vectors
    vectors: Vectors = format.read(place, allow_pickle=allow_pickle, errors=errors)
    if vectors.counts is None and not format.stores_counts:
        read_counts(vectors, place.with_name(place.name + COUNTS_FILE))
    return vectors


def read_counts(vectors: Vectors, path: Path) -> None:
    """Set the counts of vectors to those that `Vectors.save` wrote to a second file, if there is one for its words."""
    if path.is_file():
        counted = read_vocabulary_file(path)
        rows = find_words(vectors.words, counted.column, -1)
        if (rows >= 0).all():
            vectors.counts = counted.counts[rows]
        else:
            log.warning("%s is not read: it has no count of %r", path, vectors.words[int(rows.argmin())])


def load_model(path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict") -> Model:
    """Load a whole model: a folder written by `Model.save`, or a file in a format that holds models, such as fasttext.

    Arguments are those of `load`.

    Raises:
        FormatError: the path is missing, broken or in an unknown format.
        SettingError: the file holds vectors only.
    """
    check_value("errors", errors, WordErrors, {})
    place, format = resolve(path)
    if format is None:
        return Model.load(place)
    if format.read_model is None or not format.has_model(place):
        raise SettingError(f"{path} holds only vectors, not a whole model")
    model: Model = format.read_model(place, allow_pickle=allow_pickle, errors=errors)
    return model


def load_model_or_vectors(
    path: str | os.PathLike[str], *, allow_pickle: bool = False, errors: str = "strict"
) -> Model | Vectors:
    """Load a whole model if the path holds one, otherwise vectors; arguments and errors as `load`."""
    read = load_model if has_model(path) else load
    return read(path, allow_pickle=allow_pickle, errors=errors)


def load_classifier(path: str | os.PathLike[str], *, errors: str = "strict") -> "LabelPredictor":
    """Load a text classifier: a saved model, or a supervised model of fastText, `.bin` or quantised (`.ftz`).

    A saved model and a `.bin` file are memory-mapped.

    Arguments:
        path: the folder or file.
        errors: how to handle labels that are not UTF-8; see `load`.

    Raises:
        FormatError: the path is missing, broken, in an unknown format, or its model is unsupervised.
        SettingError: files of this format contain no classifiers.
    """
    check_value("errors", errors, WordErrors, {})
    place, format = resolve(path)
    if format is None:
        return Model.load(place).classifier
    if format.read_classifier is None:
        raise SettingError(f"{path} is not a classifier; train one, or use a supervised model of fastText")
    classifier: LabelPredictor = format.read_classifier(place, errors=errors)
    return classifier


def has_model(path: str | os.PathLike[str]) -> bool:
    """Whether a path holds a whole model."""
    place, format = resolve(path)
    return format is None or format.has_model(place)


def has_classifier(path: str | os.PathLike[str]) -> bool:
    """Whether a path holds a text classifier: a file, or a saved model of a trainer whose models predict labels."""
    place, format = resolve(path)
    if format is None:
        name = read_model_json(place)["model"]
        if name in registry.find_all("classifier"):
            return True
        with suppress(RegistryError):  # the trainer is not installed
            return capabilities_of(registry.load("trainer", name)).predictor is not None
        return False
    return format.read_classifier is not None and not format.has_model(place)


def local_copy(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path of a local file or folder, or of the cached local copy of a remote one."""
    if not is_remote(os.fspath(path)):
        return path
    extension = Path(path).suffix.lower()
    formats = [format for format in file_format.installed_formats().values() if extension in format.extensions]
    try:
        return local_path(path, [ending for format in formats for ending in format.companions])
    except RemoteError as error:
        raise FormatError(marked(error)) from None


def resolve(path: str | os.PathLike[str]) -> tuple[Path, Format | None]:
    """The local path of a file or folder, and its format.

    The format is None for a saved model, and for a folder in no installed format, which must be a broken model.
    """
    place = Path(local_copy(path))
    is_saved = os.path.isfile(place / MODEL_JSON)  # False without permission
    name = None if is_saved else file_format.sniff(place)
    if is_saved or (name is None and os.path.isdir(place)):
        return place, None
    if name is not None:
        return place, file_format.load_format(name)
    start = read_head(place, MAX_SIGNATURE)
    marks = {mark: f"text in {encoding.upper()}" for mark, encoding in BYTE_ORDER_MARKS.items()}
    kinds = [kind for signature, kind in {**FOREIGN, **marks}.items() if start.startswith(signature)]
    problem = f"is {kinds[0]}" if kinds else "is of an unknown format" if start else "is empty"
    raise FormatError(f"{path} {problem}: it is neither a saved model nor any of {', '.join(file_format.names())}")

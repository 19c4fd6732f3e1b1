"""The files of a saved model's folder: their names, where one can be saved, and what each of them says."""

import os
from pathlib import Path
from typing import Any

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import EmbeddingsError, FormatError, OutputError
from embeddings.support.files import check_output
from embeddings.support.versioned_json import check_fields, read_versioned

FORMAT_VERSION = 1
RECORD, VOCABULARY, TENSORS = "model.json", "vocabulary.arrow", "tensors.safetensors"
TAGS = "documents.arrow"  # of a model whose documents have tags
JOINED = "phrases.arrow"  # of one of a corpus with phrases
FILES = {RECORD, VOCABULARY, TENSORS, TAGS, JOINED}
MAIN = "vectors"
NAMED = {"model": str, "composes": bool, "settings": dict, "packages": dict, "record": dict}


def check_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if a model can be saved there: nothing there yet, or with `force` another saved model.

    Raises:
        OutputError: as `files.check_output`, and for a file, or a folder that holds anything but a saved model.
    """
    target = check_output(path, force=force)
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file, and a model is saved as a folder: choose another name")
    held = {entry.name for entry in target.iterdir()} if target.is_dir() else set()
    if held and not (target / RECORD).is_file():
        raise OutputError(f"{target} is a folder but not a saved model, and is not replaced")
    if others := sorted(held - FILES):
        raise OutputError(f"{target} holds {others[0]!r:.80} beside a saved model, and is not replaced: move that away")
    return target


def read_model_json(folder: Path) -> dict[str, Any]:
    """What model.json says, without its version.

    Raises:
        FormatError: it is missing or broken, or of a version that is not known here.
    """
    path = folder / RECORD
    if not path.is_file():
        what = "has no model.json, so it is no saved model" if folder.is_dir() else "is not a saved model"
        raise FormatError(f"{folder} {what if folder.exists() else 'does not exist'}")
    content = read_versioned(path, FORMAT_VERSION)
    content.setdefault("composes", False)
    check_fields(path, content, NAMED)
    return {key: content[key] for key in NAMED}


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a folder.

    Raises:
        FormatError: it is missing or broken, in whatever way.
    """
    if not path.is_file():
        raise FormatError(f"{path} is missing")
    try:
        return Vocabulary.load(path)
    except FormatError:
        raise
    except (EmbeddingsError, OSError, ValueError, LookupError, TypeError) as error:
        raise FormatError(f"{path} is broken: {error}") from error

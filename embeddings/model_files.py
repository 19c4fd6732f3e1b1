"""The files of a saved model's folder: their names, where one can be saved, and what each of them says."""

import json
import os
from pathlib import Path
from typing import Any

from embeddings.errors import EmbeddingsError, FormatError, OutputError
from embeddings.files import check_output
from embeddings.vocabulary import Vocabulary

FORMAT_VERSION = 1
RECORD, VOCABULARY, TENSORS = "model.json", "vocabulary.arrow", "tensors.safetensors"
MAIN = "vectors"
NAMED = {"model": str, "composes": bool, "settings": dict, "packages": dict, "record": dict}


def check_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if a model can be saved there: nothing there yet, or with `force` another saved model.

    Raises:
        OutputError: as `files.check_output`, and for a folder that holds anything but a saved model.
    """
    target = check_output(path, force=force)
    if target.is_dir() and any(target.iterdir()) and not (target / RECORD).is_file():
        raise OutputError(f"{target} is a folder but not a saved model, and is not replaced")
    return target


def read_description(folder: Path) -> dict[str, Any]:
    """What model.json says, without its version.

    Raises:
        FormatError: it is missing or broken, or of a version that is not known here.
    """
    path = folder / RECORD
    if not path.is_file():
        what = "has no model.json, so it is no saved model" if folder.is_dir() else "is not a saved model"
        raise FormatError(f"{folder} {what if folder.exists() else 'does not exist'}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is broken: {error}") from None
    if not isinstance(content, dict) or "format_version" not in content:
        raise FormatError(f"{path} is broken: it names no format_version")
    if content["format_version"] != FORMAT_VERSION:
        found = content["format_version"]
        raise FormatError(f"{path} is of format version {found!r}; this package reads {FORMAT_VERSION}")
    content.setdefault("composes", False)
    for key, kind in NAMED.items():
        if not isinstance(content.get(key), kind):
            raise FormatError(f"{path} is broken: {key!r} is missing or not a {kind.__name__}")
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

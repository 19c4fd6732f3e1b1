"""What tells one run from another: a checkpoint is good for no run that differs in any of it."""

import hashlib
from typing import TYPE_CHECKING, Any

from embeddings.models.model import package_versions
from embeddings.support.jsonable import to_jsonable
from embeddings.training.state import remembering

if TYPE_CHECKING:
    from embeddings.training.run_options import RunOptions
    from embeddings.training.task import Task


def identity(task: "Task") -> dict[str, Any]:
    """All of it."""
    counts = hashlib.sha256(task.vocabulary.counts.tobytes())
    counts.update("\n".join(task.vocabulary.words).encode("utf-8", "surrogatepass"))
    known = known_before(task.run_options, task.trainer, task.settings, task.threads, task.seed)
    return known | {"corpus": task.encoded.fingerprint, "vocabulary": counts.hexdigest()[:32]}


def known_before(run_options: "RunOptions", trainer: str, settings: Any, threads: int, seed: int) -> dict[str, Any]:
    """What is known before the corpus is read."""
    name = {
        "trainer": trainer,
        "settings": settings,
        "seed": seed,
        "threads": threads,
        **run_options.named,
        "callbacks": [{type(callback).__name__: callback.named()} for callback in remembering(run_options.callbacks)],
        "packages": package_versions(),
    }
    made: dict[str, Any] = to_jsonable(name)
    return made

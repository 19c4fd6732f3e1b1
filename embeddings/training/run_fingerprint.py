"""What tells one run from another: a checkpoint is good for no run that differs in any of it."""

import hashlib
from typing import TYPE_CHECKING, Any

from embeddings.models.model import installed
from embeddings.support.jsonable import plain
from embeddings.training.state import remembering

if TYPE_CHECKING:
    from embeddings.training.run_options import Conduct
    from embeddings.training.task import Task


def identity(task: "Task") -> dict[str, Any]:
    """All of it."""
    counts = hashlib.sha256(task.vocabulary.counts.tobytes())
    counts.update("\n".join(task.vocabulary.words).encode("utf-8", "surrogatepass"))
    known = known_before(task.conduct, task.trainer, task.settings, task.threads, task.seed)
    return known | {"corpus": task.encoded.fingerprint, "vocabulary": counts.hexdigest()[:32]}


def known_before(conduct: "Conduct", trainer: str, settings: Any, threads: int, seed: int) -> dict[str, Any]:
    """What is known before the corpus is read."""
    name = {
        "trainer": trainer,
        "settings": settings,
        "seed": seed,
        "threads": threads,
        **conduct.named,
        "callbacks": [{type(callback).__name__: callback.named()} for callback in remembering(conduct.callbacks)],
        "packages": installed(),
    }
    made: dict[str, Any] = plain(name)
    return made

"""The fingerprint of a run: a checkpoint can only be resumed by a run with the same one."""

import hashlib
from typing import TYPE_CHECKING, Any

from embeddings.models.model import package_versions
from embeddings.support.jsonable import to_jsonable
from embeddings.training.callbacks import stateful

if TYPE_CHECKING:
    from embeddings.training.run_options import RunOptions
    from embeddings.training.task import Task


def run_fingerprint(task: "Task") -> dict[str, Any]:
    """The whole fingerprint."""
    digest = hashlib.sha256(task.vocabulary.counts.tobytes())
    digest.update("\n".join(task.vocabulary.words).encode("utf-8", "surrogatepass"))
    settings = settings_fingerprint(task.run_options, task.trainer, task.settings, task.threads, task.seed)
    return settings | {"corpus": task.encoded.fingerprint, "vocabulary": digest.hexdigest()[:32]}


def settings_fingerprint(
    run_options: "RunOptions", trainer: str, settings: Any, threads: int, seed: int
) -> dict[str, Any]:
    """The part that is known before the corpus is read."""
    fingerprint: dict[str, Any] = to_jsonable(
        {
            "trainer": trainer,
            "settings": settings,
            "seed": seed,
            "threads": threads,
            **run_options.config(),
            "callbacks": [{type(callback).__name__: callback.config()} for callback in stateful(run_options.callbacks)],
            "packages": package_versions(),
        }
    )
    return fingerprint

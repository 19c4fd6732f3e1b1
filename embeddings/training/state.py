"""What a run consists of at the end of a block: all that decides what it does next, taken down and put back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from embeddings.errors import EmbeddingsError, FormatError
from embeddings.training.callbacks import Callback
from embeddings.training.checkpoints import State
from embeddings.training.parameters import copy_into, parameters
from embeddings.training.worker import whole

if TYPE_CHECKING:
    from embeddings.training.run import Run


def taken(run: "Run", named: dict[str, Any]) -> State:
    """The state of a run; its arrays are the run's own."""
    arrays = {f"table.{name}": table for name, table in parameters(run.learner.tables).items()}
    for number, worker in enumerate(run.workers):
        arrays |= {f"thread.{number}.{name}": array for name, array in worker.arrays().items()}
    told = []
    for number, state in enumerate(memories(run.callbacks) if run.memory is None else run.memory):
        arrays |= {f"callback.{number}.{name}": part for name, part in state.items() if isinstance(part, np.ndarray)}
        told.append({name: part for name, part in state.items() if not isinstance(part, np.ndarray)})
    facts = {
        "tally": run.tally.state(),
        "workers": [worker.state() for worker in run.workers],
        "told": run.told,
        "stopped": run.stopped,
        "callbacks": told,
        "sum": checksum(arrays),
    }
    return State(named, facts, arrays)


def put_back(run: "Run", state: State) -> None:
    """Let a run that was just made be where the state was taken.

    Raises:
        FormatError: the state is not whole, or does not fit.
        SettingError: a callback cannot go on from what it was.
    """
    arrays, facts = state.arrays, state.facts
    try:
        for name, table in parameters(run.learner.tables).items():
            copy_into(table, arrays[f"table.{name}"])
        if facts["sum"] != checksum(arrays):
            raise ValueError("its bytes are not those that were written")
        for number, worker in enumerate(run.workers):
            worker.restore(facts["workers"][number], under(arrays, f"thread.{number}."))
        run.tally.restore(facts["tally"])
        run.told, run.stopped = whole(facts["told"]), facts["stopped"] is True
        for number, callback in enumerate(remembering(run.callbacks)):
            callback.restore(facts["callbacks"][number] | under(arrays, f"callback.{number}."))
    except EmbeddingsError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise FormatError(f"the checkpoint is not whole: {type(error).__name__}: {error}") from None


def checksum(arrays: Mapping[str, np.ndarray]) -> int:
    """A sum over all bytes: a number that is damaged is not gone on from."""
    found = 0
    for name in sorted(arrays):
        found = crc32(np.ascontiguousarray(arrays[name]).data.cast("B") if arrays[name].size else b"", found)
    return found


def under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def remembering(callbacks: Sequence[Callback]) -> list[Callback]:
    """Those that have a state."""
    return [callback for callback in callbacks if type(callback).state is not Callback.state]


def memories(callbacks: Sequence[Callback]) -> list[dict[str, Any]]:
    """The states of those that have one."""
    return [callback.state() for callback in remembering(callbacks)]

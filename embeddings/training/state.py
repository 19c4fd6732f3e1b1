"""The state of a run at the end of a block: everything that the rest of the run depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from embeddings.errors import EmbeddingsError, FormatError
from embeddings.models.parameters import copy_into
from embeddings.training.callbacks import stateful
from embeddings.training.checkpoints import RunState
from embeddings.training.worker import check_count

if TYPE_CHECKING:
    from embeddings.training.run import Run


@dataclass(frozen=True)
class RunProgress:
    """What a run has read: the counts, and the states of its workers. With replicas, the next merge."""

    values: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def copy(self) -> "RunProgress":
        """A copy that later steps of the run do not change."""
        return RunProgress(self.values, {name: array.copy() for name, array in self.arrays.items()})


def capture_progress(run: "Run") -> RunProgress:
    """What a run has read; the arrays are not copies."""
    arrays = {
        f"thread.{number}.{name}": array
        for number, worker in enumerate(run.workers)
        for name, array in worker.arrays().items()
    }
    values: dict[str, Any] = {"tally": run.tally.state(), "workers": [worker.state() for worker in run.workers]}
    if run.replicas is not None:
        values["next_merge"] = run.replicas.schedule.next_merge
    return RunProgress(values, arrays)


def capture(run: "Run") -> RunState:
    """The state of a run, with replicas that of their last merge; its arrays are not copies."""
    progress = run.merged_progress or capture_progress(run)
    arrays = {f"table.{name}": table for name, table in run.tables.items()} | progress.arrays
    arrays |= {f"saved.{name}": table for name, table in run.saved_tables.items()}
    arrays |= {f"average.{name}": table for name, table in run.average.tables.items()}
    callback_values = []
    for number, state in enumerate(run.callback_state or [callback.state() for callback in stateful(run.callbacks)]):
        arrays |= {f"callback.{number}.{name}": value for name, value in state.items() if isinstance(value, np.ndarray)}
        callback_values.append({name: value for name, value in state.items() if not isinstance(value, np.ndarray)})
    values = {
        **progress.values,
        "epochs_reported": run.epochs_reported,
        "stopped": run.stopped,
        "is_rollback_due": run.is_rollback_due,
        "average": [run.average.count, run.average.next_point],
        "callbacks": callback_values,
        "checksum": checksum(arrays),
    }
    return RunState(run.fingerprint, values, arrays)


def restore(run: "Run", state: RunState) -> None:
    """Restore a saved state into a new run."""
    arrays, values = state.arrays, state.values
    try:
        for name, table in run.tables.items():
            copy_into(table, arrays[f"table.{name}"])
        if values["checksum"] != checksum(arrays):
            raise ValueError("the checksum of the arrays is wrong")
        for number, worker in enumerate(run.workers):
            worker.restore(values["workers"][number], without_prefix(arrays, f"thread.{number}."))
        run.tally.restore(values["tally"])
        if run.replicas is not None:
            run.replicas.restore(check_count(values["next_merge"]))
        run.epochs_reported, run.stopped = check_count(values["epochs_reported"]), values["stopped"] is True
        run.is_rollback_due = values["is_rollback_due"] is True
        run.average.count, run.average.next_point = map(check_count, values["average"])
        run.saved_tables, run.average.tables = (
            {name: np.array(array, subok=False) for name, array in without_prefix(arrays, prefix).items()}
            for prefix in ("saved.", "average.")
        )
        for number, callback in enumerate(stateful(run.callbacks)):
            callback.restore(values["callbacks"][number] | without_prefix(arrays, f"callback.{number}."))
    except EmbeddingsError:
        raise
    except (KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise FormatError(f"the checkpoint is incomplete: {type(error).__name__}: {error}") from None


def checksum(arrays: Mapping[str, np.ndarray]) -> int:
    """The CRC-32 of all arrays in order of their names; detects corruption."""
    value = 0
    for name in sorted(arrays):
        value = crc32(np.ascontiguousarray(arrays[name]).data.cast("B") if arrays[name].size else b"", value)
    return value


def without_prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names start with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

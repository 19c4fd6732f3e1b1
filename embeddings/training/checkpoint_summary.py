"""The checkpoints that a folder holds, and what they are of."""

from pathlib import Path
from typing import Any

from embeddings.support.jsonable import to_jsonable
from embeddings.training.checkpoints import RECORD, Checkpoints, read_record
from embeddings.training.run_log_reader import is_number


def find_checkpoints(path: Path) -> list[Path]:
    """The complete checkpoints in a folder, oldest first, or the folder itself if it is one."""
    return [path] if (path / RECORD).is_file() else Checkpoints(path).paths()


def summarize_checkpoints(paths: list[Path]) -> dict[str, Any]:
    """A summary: the run they belong to, and the progress of the last one."""
    fingerprint, values = read_record(paths[-1])
    tally = values.get("tally")
    words, seconds = (tally.get("words"), tally.get("seconds")) if isinstance(tally, dict) else (None, None)
    summary: dict[str, Any] = to_jsonable(
        {
            "trainer": fingerprint.get("trainer"),
            "checkpoints": [path.name for path in paths],
            "words": sum(number for number in words if is_number(number)) if isinstance(words, list) else 0,
            "seconds": seconds if is_number(seconds) else None,
            **{name: fingerprint.get(name) for name in ("seed", "threads", "replicas", "settings", "packages")},
        }
    )
    return summary

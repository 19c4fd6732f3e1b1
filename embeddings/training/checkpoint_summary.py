"""What the checkpoints of a run say of it, without its arrays."""

from pathlib import Path
from typing import Any

from embeddings.support.jsonable import to_jsonable
from embeddings.training.checkpoints import RECORD, Checkpoints, read_record
from embeddings.training.run_log_reader import is_number


def find_checkpoints(path: Path) -> list[Path]:
    """The whole checkpoints in a folder, oldest first, or the folder itself if it is one; none elsewhere."""
    return [path] if (path / RECORD).is_file() else Checkpoints(path).paths()


def summarize_checkpoints(found: list[Path]) -> dict[str, Any]:
    """What is kept, how far the last one is, and which run it is of.

    Raises:
        FormatError: it is damaged, or of a version that is not known here.
    """
    run, facts = read_record(found[-1])
    tally = facts.get("tally")
    counted = tally if isinstance(tally, dict) else {}
    words, seconds = counted.get("words"), counted.get("seconds")
    listed = words if isinstance(words, list) else []
    told: dict[str, Any] = to_jsonable(
        {
            "trainer": run.get("trainer"),
            "kept": [path.name for path in found],
            "words": sum(number for number in listed if is_number(number)),
            "seconds": seconds if is_number(seconds) else None,
            **{name: run.get(name) for name in ("seed", "threads", "settings", "packages")},
        }
    )
    return told

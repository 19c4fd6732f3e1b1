"""Checkpoint intervals, parsed from text.

`auto`, or a number with a unit and no space: seconds, minutes or hours (`30s`, `10m`, `1.5h`), or words of the corpus
(`500000w`, `500kw`, `5Mw`, `1Gw`). A number without a unit is refused as ambiguous.
"""

import re
from dataclasses import dataclass

from embeddings.errors import SettingError

AUTO = "auto"
AUTO_SECONDS = 60.0  # between checkpoints
AUTO_SHARE = 0.01  # maximum share of the time spent on writing
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
WORDS = {"w": 1.0, "kw": 1e3, "Mw": 1e6, "Gw": 1e9}
PATTERN = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([a-zA-Z]+)", re.ASCII)


@dataclass(frozen=True)
class Interval:
    """Minimum seconds or words between two checkpoints (the other is 0); `share` limits the time spent writing."""

    seconds: float = 0.0
    words: float = 0.0
    share: float = 1.0

    @classmethod
    def parse(cls, text: str) -> "Interval":
        """Parse an interval."""
        if text == AUTO:
            return cls(seconds=AUTO_SECONDS, share=AUTO_SHARE)
        match = PATTERN.fullmatch(text) if isinstance(text, str) else None
        number, unit = (float(match[1]), match[2]) if match else (0.0, "")
        if not number or unit not in SECONDS | WORDS:
            interval_forms = "auto, a time such as 30s, 10m or 1h, or words such as 500000w, 500kw or 5Mw"
            raise SettingError(f"the checkpoint interval must be {interval_forms}, got {text!r}")
        return cls(number * SECONDS.get(unit, 0.0), number * WORDS.get(unit, 0.0))

    def is_over(self, seconds: float, words: int, cost: float) -> bool:
        """Whether the next checkpoint is due, `seconds` and `words` after one that took `cost` seconds to write."""
        return seconds >= max(self.seconds, cost / self.share if self.share < 1 else 0.0) and words >= self.words

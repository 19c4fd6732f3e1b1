"""How often a checkpoint is written, as people say it.

The grammar: `auto`, or a number and its unit, without a space: seconds, minutes or hours as `30s`, `10m`, `1.5h`;
words of the corpus as `500000w`, `500kw`, `5Mw`, `1Gw`. A number without a unit would be read in two ways, and is
refused.
"""

import re
from dataclasses import dataclass

from embeddings.errors import SettingError

AUTO = "auto"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
WORDS = {"w": 1.0, "kw": 1e3, "Mw": 1e6, "Gw": 1e9}
OFTEN = 60.0  # seconds between two checkpoints, for auto
SHARE = 0.01  # of the time is the most that they take then
FORM = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([a-zA-Z]+)", re.ASCII)


@dataclass(frozen=True)
class Interval:
    """The least that lies between two checkpoints: seconds and words of the corpus; `share` bounds the time they take.

    Of seconds and words one is 0.
    """

    seconds: float = 0.0
    words: float = 0.0
    share: float = 1.0

    @classmethod
    def parse(cls, text: str) -> "Interval":
        """The interval that a text says.

        Raises:
            SettingError: it says none.
        """
        if text == AUTO:
            return cls(seconds=OFTEN, share=SHARE)
        found = FORM.fullmatch(text) if isinstance(text, str) else None
        number, unit = (float(found[1]), found[2]) if found else (0.0, "")
        if not number or unit not in UNITS | WORDS:
            allowed = "auto, a time such as 30s, 10m or 1h, or words such as 500000w, 500kw or 5Mw"
            raise SettingError(f"checkpoints are written every {allowed}, not {text!r}")
        return cls(seconds=number * UNITS[unit]) if unit in UNITS else cls(words=number * WORDS[unit])

    def over(self, seconds: float, words: int, cost: float) -> bool:
        """Whether so many seconds and words since the last checkpoint, which took `cost` seconds, are enough."""
        return seconds >= max(self.seconds, cost / self.share if self.share < 1 else 0.0) and words >= self.words

"""Values with their intervals as strips of inline SVG, one to a line of a table, on a common scale."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from embeddings.support.html import Html, tag

STEPS = (1, 2, 2.5, 5, 10)
TICKS = 5


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, with marks each `step`."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, values: Iterable[float | None], *, zero: bool = False) -> "Scale":
        """A scale that holds all values, and zero if asked for, between whole steps."""
        found = [value for value in values if value is not None] + [0.0] * zero
        low, high = min(found, default=0.0), max(found, default=1.0)
        rough = max(high - low, 1e-6 * max(1.0, abs(low), abs(high))) / TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * size for size in STEPS if power * size >= rough * (1 - 1e-9))
        low = floor(low / step + 1e-9) * step
        return cls(low, max(ceil(high / step - 1e-9) * step, low + step), step)

    def place(self, value: float) -> str:
        """Where a value lies, in per cent of the width between margins of 2 per cent."""
        return f"{2 + 96 * (value - self.low) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        """The marks."""
        count = round((self.high - self.low) / self.step)
        return [self.low + place * self.step for place in range(count + 1)]

    def axis(self) -> Html:
        """The head of a column of strips."""
        places = self.ticks()
        marks = []
        for tick in places:
            inner = tick not in (places[0], places[-1]) and round(tick, 9) != 0
            anchor = "start" if tick == places[0] else "end" if tick == places[-1] else "middle"
            name = "tick inner" if inner else "tick"
            marks.append(
                tag("text", f"{round(tick, 9):g}", x=self.place(tick), y="75%", text_anchor=anchor, class_=name)
            )
        return tag("th", tag("svg", *marks, class_="strip", role="presentation"), class_="plot")

    def strip(self, value: float | None, low: float | None, high: float | None, colour: int, label: str) -> Html:
        """A cell with a value and its interval; empty without a value."""
        lines = [
            tag("line", x1=self.place(tick), x2=self.place(tick), y1="0", y2="100%", class_="grid")
            for tick in self.ticks()
        ]
        if self.low < 0 < self.high:
            lines.append(tag("line", x1=self.place(0), x2=self.place(0), y1="0", y2="100%", class_="zero"))
        if low is not None and high is not None:
            lines.append(tag("line", x1=self.place(low), x2=self.place(high), y1="50%", y2="50%", class_="reach"))
        if value is not None:
            lines.append(tag("circle", cx=self.place(value), cy="50%", r="4", class_="value"))
        drawn = tag("svg", tag("title", label), *lines, class_=f"strip colour{colour % 8}", role="img")
        return tag("td", drawn, class_="plot")

"""The scale of a column of interval plots, which the template draws as inline SVG."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

STEPS = (1, 2, 2.5, 5, 10)
TICKS = 5


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, with a tick at each `step`."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, values: Iterable[float | None], *, with_zero: bool = False) -> "Scale":
        """A scale of whole steps that holds all values, and zero on request."""
        finite = [value for value in values if value is not None] + [0.0] * with_zero
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        rough = max(high - low, 1e-6 * max(1.0, abs(low), abs(high))) / TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * size for size in STEPS if power * size >= rough * (1 - 1e-9))
        low = floor(low / step + 1e-9) * step
        return cls(low, max(ceil(high / step - 1e-9) * step, low + step), step)

    def position(self, value: float) -> str:
        """The position of a value, in per cent of the width, with margins of 2 per cent."""
        return f"{2 + 96 * (value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks."""
        count = round((self.high - self.low) / self.step)
        return [round(self.low + number * self.step, 9) for number in range(count + 1)]

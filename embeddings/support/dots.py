"""The rows of plots."""

from typing import NamedTuple


class Dot(NamedTuple):
    """A row of a plot.

    Arguments:
        label: the name at the left.
        axis: what the value is, with its unit; rows with the same title and axis share a panel.
        value: the place of the mark; None for no mark.
        low, high: the ends of the interval.
        remark: text at the right, such as a p-value.
        series: the rows of one label are told apart by the marks of their series.
        title: the heading of the panel.
        reference: a value that the axis holds in any case.
    """

    label: str
    axis: str
    value: float | None
    low: float | None = None
    high: float | None = None
    remark: str = ""
    series: str = ""
    title: str = ""
    reference: float | None = None

"""The interval between checkpoints: parsing, and when it is over."""

import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.training.checkpoints import Interval


@pytest.mark.parametrize(
    ("text", "seconds", "words"),
    [
        ("30s", 30, 0), ("10m", 600, 0), ("1h", 3600, 0), ("1.5h", 5400, 0), ("0.05s", 0.05, 0),
        ("5000000w", 0, 5e6), ("500kw", 0, 5e5), ("5Mw", 0, 5e6), ("0.5Gw", 0, 5e8),
    ],
)  # fmt: skip
def test_intervals(text, seconds, words):
    assert Interval.parse(text) == Interval(seconds, words)


@pytest.mark.parametrize(
    "text",
    ["", "60", "5000000", "0s", "0.0Mw", "-3s", "3 s", "3d", "5mw", "5MW", "1e3s", "s", "\u0661s", None, 60],
)
def test_invalid_intervals(text):
    with pytest.raises(SettingError, match=r"interval.*auto.*30s.*500kw"):
        em.Checkpoints("c", every=text)


def test_interval_is_over_after_time_words_and_cost():
    assert [Interval(seconds=10).is_over(s, 0, 99) for s in (9.9, 10)] == [False, True]
    assert [Interval(words=10).is_over(0, w, 99) for w in (9, 10)] == [False, True]
    auto = Interval.parse("auto")
    assert [auto.is_over(s, 0, 0.1) for s in (59, 61)] == [False, True]
    assert [auto.is_over(s, 0, 3) for s in (61, 299, 301)] == [False, False, True]

"""Schedules are exact functions of the share of training, and settings without effect are refused."""

from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeddings.errors import SettingError
from embeddings.learning_rates import DEFAULT_RATIOS, SCHEDULES
from embeddings.settings import Schedule, field_types

TABLE = [  # schedule, other settings, share of training in percent: learning rate
    ("linear", {}, {0: 0.8, 25: 0.6, 50: 0.4, 100: 0.00008}),
    ("linear", {"min_learning_rate": 0.5}, {0: 0.8, 25: 0.6, 50: 0.5, 100: 0.5}),
    ("linear", {"warm_up": 0.2}, {0: 0, 10: 0.4, 20: 0.8, 60: 0.4, 100: 0.00008}),
    ("constant", {}, {0: 0.8, 50: 0.8, 100: 0.8}),
    ("constant", {"warm_up": 0.5}, {0: 0, 25: 0.4, 50: 0.8, 100: 0.8}),
    ("exponential", {}, {0: 0.8, 50: 0.08, 100: 0.008}),
    ("exponential", {"min_learning_rate": 0.2}, {0: 0.8, 50: 0.4, 100: 0.2}),
    ("exponential", {"min_learning_rate": 0.2, "warm_up": 0.2}, {10: 0.4, 20: 0.8, 60: 0.4, 100: 0.2}),
    ("inverse-time", {}, {0: 0.8, 100: 0.08}),
    ("inverse-time", {"min_learning_rate": 0.2}, {0: 0.8, 50: 0.8 / 2.5, 100: 0.2}),
    ("inverse-square-root", {}, {0: 0.8, 100: 0.08}),
    ("inverse-square-root", {"min_learning_rate": 0.2}, {0: 0.8, 20: 0.4, 50: 0.8 / 8.5**0.5, 100: 0.2}),
    ("inverse-sigmoid", {"min_learning_rate": 0.2}, {0: 0.8, 10: 0.793132, 30: 0.731578, 50: 0.5, 100: 0.2}),
    ("step", {}, {0: 0.8, 19: 0.8, 20: 0.4, 39: 0.4, 40: 0.2, 60: 0.1, 80: 0.05, 100: 0.05}),
    ("step", {"stages": 2, "min_learning_rate": 0.1}, {0: 0.8, 49: 0.8, 50: 0.1, 100: 0.1}),
    ("cosine", {"min_learning_rate": 0.2}, {0: 0.8, 50: 0.5, 100: 0.2}),
    ("cosine", {}, {0: 0.8, 50: 0.40004, 100: 0.00008}),
    ("slanted-triangular", {}, {0: 0.025, 5: 0.4125, 10: 0.8, 55: 0.4125, 100: 0.025}),
    ("slanted-triangular", {"warm_up": 0.5, "min_learning_rate": 0}, {0: 0, 25: 0.4, 50: 0.8, 75: 0.4, 100: 0}),
]


@pytest.mark.parametrize(("name", "settings", "rates"), TABLE, ids=lambda value: value if type(value) is str else None)
def test_learning_rates(name, settings, rates):
    schedule = Schedule(schedule=name, learning_rate=0.8, **settings)
    for percent, rate in rates.items():
        assert schedule.learning_rate_at(percent, 100) == pytest.approx(rate), percent


def test_slanted_triangle_is_that_of_howard_and_ruder():
    """Section 3.2 of the paper: cut_frac 0.1, ratio 32, and T iterations, of which `cut` raise the rate."""
    iterations, cut, ratio, rate = 1000, 100, 32, 0.01
    for t in range(iterations + 1):
        p = t / cut if t < cut else 1 - (t - cut) / (cut * (1 / 0.1 - 1))
        expected = rate * (1 + p * (ratio - 1)) / ratio
        schedule = Schedule(schedule="slanted-triangular", learning_rate=rate)
        assert schedule.learning_rate_at(t, iterations) == pytest.approx(expected)


@given(st.sampled_from(sorted(SCHEDULES)), st.floats(1e-6, 10), st.none() | st.floats(0.01, 1), st.integers(1, 10**12))
def test_rates_fall_from_the_first_to_the_last(name, rate, ratio, total):
    minimum = None if ratio is None or name == "constant" else ratio * rate
    schedule = Schedule(schedule=name, learning_rate=rate, min_learning_rate=minimum, warm_up=0)
    rates = [schedule.learning_rate_at(total * k // 50, total) for k in range(51)]
    assert rates[0] == pytest.approx(rate)
    assert rates[-1] == pytest.approx(schedule.final_learning_rate_of(schedule.schedule)) == pytest.approx(min(rates))
    assert schedule.final_learning_rate_of(schedule.schedule) == (minimum or rate / DEFAULT_RATIOS[name])
    assert all(a >= b * (1 - 1e-12) for a, b in pairwise(rates))


def test_every_schedule_is_a_choice():
    assert set(get_args(field_types(Schedule)["schedule"])) == set(SCHEDULES) == set(DEFAULT_RATIOS)


REFUSED = [
    ({"schedule": "constant", "min_learning_rate": 0.01}, "min_learning_rate.*'constant'"),
    ({"schedule": "cosine", "stages": 3}, "stages.*schedule.*step"),
    ({"stages": 3}, "stages.*schedule.*step"),
    ({"schedule": "step", "stages": 1}, "stages must be at least 2, got 1"),
    ({"schedule": "exponential", "min_learning_rate": 0}, "min_learning_rate must be greater than 0"),
    ({"schedule": "step", "min_learning_rate": 0}, "min_learning_rate must be greater than 0"),
    ({"schedule": "cosine", "min_learning_rate": 0.06}, "min_learning_rate=0.06.*learning_rate.*0.05"),
    ({"warm_up": 1.0}, r"warm_up must be in \[0, 0.9\], got 1.0"),
    ({"schedule": "warm"}, "schedule must be one of linear, constant"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_settings_without_effect_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Schedule(**settings)

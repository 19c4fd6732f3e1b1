"""Settings: types and bounds are checked, and errors name the field, the value and what is allowed."""

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Literal, Optional

import numpy as np
import pyarrow as pa
import pytest

from embeddings.errors import SettingError
from embeddings.plugins.cbow import CBOW
from embeddings.plugins.skipgram import SkipGram
from embeddings.settings import Settings, field_types, flag, option, split_optional
from embeddings.settings.setting_fields import check_list


@dataclass(frozen=True, kw_only=True)
class Sample(Settings):
    """One field of every kind."""

    integer: int = option(3, "An integer.", ge=1, le=9)
    number: float = option(0.5, "A number.", gt=0, le=2)
    free: float = option(0.0, "Any number.")
    low: int = option(0, "Only a lower bound.", ge=-2)
    positive: float = option(1, "Only an exclusive lower bound.", gt=0)
    choice: Literal["mean", "sum"] = option("mean", "One of two.")
    switch: bool = option(True, "On or off.")
    text: str = option("a", "A string.")
    maybe: int | None = option(None, "An integer or None.", ge=1)
    old: Optional[float] = option(None, "The same in the old notation.", le=1)  # noqa: UP045


NAN, INFINITY = float("nan"), float("inf")
INVALID = [  # field, value, what is allowed
    ("integer", 0, "[1, 9]"), ("integer", 10, "[1, 9]"), ("integer", 3.0, "integer"), ("integer", True, "integer"),
    ("integer", "3", "integer"), ("integer", None, "integer"), ("integer", NAN, "integer"), ("integer", [1], "integer"),
    ("number", 0, "(0, 2]"), ("number", 2.1, "(0, 2]"), ("number", NAN, "(0, 2]"), ("number", INFINITY, "(0, 2]"),
    ("number", "1", "number"), ("number", False, "number"), ("number", 1j, "number"), ("free", NAN, "finite"),
    ("free", -INFINITY, "finite"), ("low", -3, "-2"), ("positive", 0, "0"), ("choice", "max", "mean, sum"),
    ("choice", None, "mean, sum"), ("choice", ["mean"], "mean, sum"), ("switch", 1, "true or false"),
    ("switch", "no", "true or false"), ("text", 1, "string"), ("maybe", 0, "1"), ("maybe", 1.5, "integer"),
    ("old", 2, "1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "allowed"), INVALID)
def test_errors_name_field_value_and_bounds(name, value, allowed):
    with pytest.raises(SettingError, match=rf"^{name}\b.*{re.escape(allowed)}.*{re.escape(repr(value))}$"):
        Sample(**{name: value})


def test_inclusive_bounds_are_accepted():
    """That values beyond the bounds are refused, the contract of trainers tests for each of their settings."""
    for values in ({"integer": 1, "low": -2, "maybe": 1}, {"integer": 9, "number": 2, "old": 1}):
        assert values.items() <= dataclasses.asdict(Sample(**values)).items()


def test_settings_are_frozen_and_keyword_only():
    trainer = SkipGram()
    with pytest.raises(dataclasses.FrozenInstanceError):
        trainer.dim = 3
    with pytest.raises(TypeError, match="positional"):
        SkipGram(3)


def test_defaults():
    shared = {
        "dim": 100, "epochs": 5, "learning_rate": 0.05, "min_learning_rate": None, "schedule": "linear",
        "warm_up": None, "stages": None, "average_last": None, "shuffle": False, "min_count": 5,
        "max_vocab": None, "min_documents": 1, "subsample": 1e-3, "window": 5, "shrink_window": True, "negatives": 5,
        "noise_exponent": 0.75, "negative_sharing": "batch", "objective": "negative-sampling",
        "tie": False, "nce_normalizer": "one", "proposals": "unigram",
        "target_in_sample": True, "cutoffs": None, "unknown_rows": 0,
        "device": "cpu",
    }  # fmt: skip
    assert dataclasses.asdict(SkipGram()) == shared
    own = {"learning_rate": 0.075, "combine": "mean", "context_gradient": "undivided"}
    assert dataclasses.asdict(CBOW()) == {**shared, **own}


def test_a_list_may_be_any_iterable_but_a_string_and_a_mapping_and_keeps_its_order():
    for values in ([1, 2], (1, 2), iter([1, 2]), np.array([1, 2]), pa.array([1, 2]), {1: "a", 2: "b"}.keys()):
        items = check_list("texts", values)
        assert (items, {type(item) for item in items} <= {int, np.int64}) == ([1, 2], True)
    assert check_list("texts", {1}, ordered=False) == [1]
    for values in ("ab", b"ab", {1: 2}, 3, {1, 2}):
        with pytest.raises(SettingError, match="texts"):
            check_list("texts", values)


def test_types_and_flags():
    assert field_types(Sample)["maybe"] == int | None
    assert split_optional(int | None) == (int, True)
    assert split_optional(Optional[float]) == (float, True)  # noqa: UP045
    assert split_optional(int) == (int, False)
    assert flag("noise_exponent") == "--noise-exponent"


def test_integers_of_more_than_64_bits_are_refused():
    with pytest.raises(SettingError, match=f"min_count is too large, got {2**63}"):
        SkipGram(min_count=2**63)
    assert SkipGram(min_count=2**63 - 1).min_count == 2**63 - 1


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.uint8, np.int64])
def test_numpy_numbers_become_python_numbers(kind):
    names = ("learning_rate", "noise_exponent", "min_learning_rate")
    names += ("dim", "window", "max_vocab") if np.issubdtype(kind, np.integer) else ()
    trainer = CBOW(**{name: kind(number) for number, name in zip((5, 1, 0, 3, 4, 6), names, strict=False)})
    values = dataclasses.asdict(trainer)
    assert [values[name] for name in names] == [5, 1, 0, 3, 4, 6][: len(names)]
    assert {type(values[name]) for name in names[:3]} == {float}
    assert CBOW(**json.loads(json.dumps(values))) == trainer


@pytest.mark.parametrize(
    "value", [np.float32("nan"), np.longdouble("inf"), np.float64(7), np.bool_(True), np.array([3])]
)
def test_other_numpy_values_are_not_integers(value):
    with pytest.raises(SettingError, match=r"^dim\b.*integer"):
        SkipGram(dim=value)
    if not np.isfinite(value).all():
        with pytest.raises(SettingError, match=r"^learning_rate\b.* (nan|inf)$"):
            SkipGram(learning_rate=value)

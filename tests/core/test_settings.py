"""Settings refuse what is out of range, by name, with the value and what is allowed."""

import dataclasses
from dataclasses import dataclass
from typing import Literal, Optional

import numpy as np
import pytest

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.plugins.cbow import CBOW
from embeddings.plugins.skipgram import SkipGram
from embeddings.settings import Schedule, Settings, flag, field_types, option, split_optional


@dataclass(frozen=True, kw_only=True)
class Sample(Settings):
    """One field of every kind."""

    whole: int = option(3, "A whole number.", ge=1, le=9)
    number: float = option(0.5, "A number.", gt=0, le=2)
    free: float = option(0.0, "Any number.")
    low: int = option(0, "Only one bound.", ge=-2)
    choice: Literal["mean", "sum"] = option("mean", "One of two.")
    switch: bool = option(True, "On or off.")
    text: str = option("a", "A text.")
    maybe: int | None = option(None, "A number or nothing.", ge=1)
    old: Optional[float] = option(None, "The same as written before.", le=1)  # noqa: UP045


GOOD = [
    {"whole": 1}, {"whole": 9}, {"number": 2}, {"number": 1e-300}, {"free": -1e300}, {"low": -2}, {"low": 10**400},
    {"choice": "sum"}, {"switch": False}, {"text": ""}, {"maybe": 1}, {"maybe": None}, {"old": None}, {"old": -5},
    {"number": np.float64(0.1)}, {"number": 1},
]  # fmt: skip

BAD = [
    ({"whole": 0}, "whole must be at least 1 and at most 9, not 0"),
    ({"whole": 10}, "whole must be at least 1 and at most 9, not 10"),
    ({"whole": 3.0}, "whole must be a whole number, not 3.0"),
    ({"whole": True}, "whole must be a whole number, not True"),
    ({"whole": "3"}, "whole must be a whole number, not '3'"),
    ({"whole": None}, "whole must be a whole number, not None"),
    ({"whole": float("nan")}, "whole must be a whole number, not nan"),
    ({"whole": [1]}, r"whole must be a whole number, not [1]"),
    ({"number": 0}, "number must be above 0 and at most 2, not 0"),
    ({"number": 2.1}, "number must be above 0 and at most 2, not 2.1"),
    ({"number": float("nan")}, "number must be above 0 and at most 2, not nan"),
    ({"number": float("inf")}, "number must be above 0 and at most 2, not inf"),
    ({"number": "1"}, "number must be a number, not '1'"),
    ({"number": False}, "number must be a number, not False"),
    ({"number": 1j}, "number must be a number, not 1j"),
    ({"free": float("nan")}, "free must be a finite number, not nan"),
    ({"free": float("-inf")}, "free must be a finite number, not -inf"),
    ({"low": -3}, "low must be at least -2, not -3"),
    ({"choice": "max"}, "choice must be one of mean, sum, not 'max'"),
    ({"choice": None}, "choice must be one of mean, sum, not None"),
    ({"choice": ["mean"]}, "choice must be one of mean, sum, not ['mean']"),
    ({"switch": 1}, "switch must be true or false, not 1"),
    ({"switch": "no"}, "switch must be true or false, not 'no'"),
    ({"text": 1}, "text must be a text, not 1"),
    ({"maybe": 0}, "maybe must be at least 1, not 0"),
    ({"maybe": 1.5}, "maybe must be a whole number, not 1.5"),
    ({"old": 2}, "old must be at most 1, not 2"),
]


@pytest.mark.parametrize("given", GOOD, ids=str)
def test_allowed(given):
    made = Sample(**given)
    assert dataclasses.asdict(made) == {**dataclasses.asdict(Sample()), **given}


@pytest.mark.parametrize(("given", "told"), BAD, ids=[str(given) for given, _ in BAD])
def test_refused(given, told):
    with pytest.raises(SettingError) as error:
        Sample(**given)
    assert str(error.value) == told


def test_a_setting_error_is_a_value_error_too():
    with pytest.raises(ValueError, match="whole"):
        Sample(whole=0)
    assert issubclass(SettingError, EmbeddingsError)


@pytest.mark.parametrize("trainer", [SkipGram, CBOW])
def test_bounds_of_our_trainers(trainer):
    """The bound itself is taken if it may be reached; what lies just beyond is refused."""
    checked = 0
    for field in dataclasses.fields(trainer):
        step = 1 if field_types(trainer)[field.name] in (int, int | None) else 1e-9
        for bound, sign in (("ge", -1), ("le", 1)):
            value = field.metadata[bound]
            if value is not None:
                trainer(**{"learning_rate": 100, field.name: value})
                with pytest.raises(SettingError, match=rf"^{field.name} must be .*at {bound} {value}\b"):
                    trainer(**{"learning_rate": 100, field.name: value + sign * step})
                checked += 1
        if (value := field.metadata["gt"]) is not None:
            with pytest.raises(SettingError, match=f"^{field.name} must be above {value}"):
                trainer(**{field.name: value})
            checked += 1
    assert checked >= 13


def test_min_rate_above_rate():
    with pytest.raises(SettingError, match=r"^min_rate must be at most rate, 0\.025, not 0\.03$"):
        Schedule(min_learning_rate=0.03)
    assert Schedule(learning_rate=0.5, min_learning_rate=0.5).final_learning_rate == 0.5
    assert Schedule(min_learning_rate=0).final_learning_rate == 0
    assert Schedule(learning_rate=0.5).final_learning_rate == 0.00005


def test_settings_cannot_be_changed_or_given_by_place():
    made = SkipGram()
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'dim'"):
        made.dim = 3
    with pytest.raises(TypeError, match="positional argument"):
        SkipGram(3)


def test_defaults_are_those_of_the_field():
    shared = {
        "dim": 100, "epochs": 5, "learning_rate": 0.025, "min_learning_rate": None, "shuffle": False, "min_count": 5, "max_vocab": None,
        "subsample": 1e-3, "window": 5, "shrink_window": True, "negatives": 5, "noise_exponent": 0.75,
        "negative_sharing": "batch",
    }  # fmt: skip
    assert dataclasses.asdict(SkipGram()) == shared
    ours = {"learning_rate": 0.075, "combine": "mean", "context_gradient": "undivided"}
    assert dataclasses.asdict(CBOW()) == {**shared, **ours}


def test_types_and_names():
    assert field_types(Sample)["maybe"] == int | None
    assert split_optional(int | None) == (int, True)
    assert split_optional(Optional[float]) == (float, True)  # noqa: UP045
    assert split_optional(int) == (int, False)
    assert flag("noise_exponent") == "--noise-exponent"


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    made = SkipGram(dim=np.int64(7), learning_rate=np.float32(0.5))
    assert (made.dim, made.learning_rate) == (7, 0.5)
    with pytest.raises(SettingError, match="dim must be a whole number"):
        SkipGram(dim=np.float64(7))


def test_noise_for_each_pair_wants_a_window_that_fits_in_memory():
    assert SkipGram(negative_sharing="none", window=1000).window == 1000
    assert SkipGram(window=1001).window == 1001
    with pytest.raises(SettingError, match="2 x window x negatives must be at most 10000, not 10010"):
        SkipGram(negative_sharing="none", window=1001)

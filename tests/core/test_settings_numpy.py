"""Numbers of numpy as settings: refused where they are not finite, Python's own once they are taken."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.plugins.cbow import CBOW
from embeddings.plugins.skipgram import SkipGram

KINDS = [np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("name", ["learning_rate", "subsample", "noise_exponent", "min_learning_rate"])
def test_no_number_that_is_not_finite_is_a_setting(name, value, kind):
    with pytest.raises(SettingError, match=f"^{name} must be .*, not {value}$"):
        SkipGram(**{name: kind(value)})


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_become_those_of_python(kind):
    made = CBOW(learning_rate=kind(0.05), subsample=kind(0), noise_exponent=kind(1), min_learning_rate=kind(0))
    assert [type(value) for value in (made.learning_rate, made.subsample, made.noise_exponent, made.min_learning_rate)] == [float] * 4
    assert made.learning_rate == float(kind(0.05))
    assert made.noise_exponent == 1.0


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_whole_numbers_become_those_of_python(kind):
    made = SkipGram(
        dim=kind(7), window=kind(3), negatives=kind(2), epochs=kind(1), min_count=kind(1), max_vocab=kind(9)
    )
    values = (made.dim, made.window, made.negatives, made.epochs, made.min_count, made.max_vocab)
    assert values == (7, 3, 2, 1, 1, 9)
    assert {type(value) for value in values} == {int}


def test_a_whole_number_where_a_number_is_meant_is_kept_as_one():
    made = SkipGram(learning_rate=1, subsample=np.int64(0), min_learning_rate=np.uint8(0))
    assert [type(value) for value in (made.learning_rate, made.subsample, made.min_learning_rate)] == [float] * 3


def test_settings_of_numpy_can_be_written():
    made = SkipGram(dim=np.int64(5), learning_rate=np.float16(0.05), min_count=np.uint8(3))
    assert SkipGram(**json.loads(json.dumps(asdict(made)))) == made


def test_none_stays_none():
    made = SkipGram(max_vocab=None, min_learning_rate=None)
    assert (made.max_vocab, made.min_learning_rate) == (None, None)


@pytest.mark.parametrize("value", [np.float32(3), np.bool_(True), np.array(3.0), np.array([3])])
def test_no_other_number_is_a_whole_one(value):
    with pytest.raises(SettingError, match=r"^dim must be a whole number, not "):
        SkipGram(dim=value)

"""JSON records with a version, and values of numpy as JSON."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.support.records import check_fields, read_versioned, to_jsonable


@dataclass
class Point:
    x: float
    name: str | None = None


def test_values_become_json_types():
    values = {1: Point(float("nan")), "b": (np.float32(0.5), np.arange(2), {np.int64(3)}), "c": [True, float("inf")]}
    expected = {"1": {"x": None, "name": None}, "b": [0.5, [0, 1], [3]], "c": [True, None]}
    assert to_jsonable(values) == expected
    assert json.loads(json.dumps(to_jsonable(values))) == expected
    assert to_jsonable(range) == str(range)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is truncated or broken: "),
        (b"\xff", "is truncated or broken: "),
        (b"[" * 100_000, "is truncated or broken: "),
        (b"[]", "has format version None"),
        (b"{}", "has format version None"),
        (b'{"format_version": 3}', "has format version 3; this package reads 2"),
        (b'{"format_version": 2, "words": "x"}', "is broken: 'words' is missing or not a int"),
    ],
)
def test_broken_records_are_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "record.json"
    path.write_bytes(content)
    with pytest.raises(FormatError) as error:
        check_fields(path, read_versioned(path, 2), {"words": int})
    assert f"{path} {message}" in str(error.value)
    assert "\n" not in str(error.value)

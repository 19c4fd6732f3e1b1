"""Tables, JSON and messages."""

import json
from datetime import date

import numpy as np
import pytest

from embeddings.cli import output


def rows_until_failure():
    yield {"word": "the", "cosine": 0.5}
    raise ValueError("the second row fails")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(output, "is_terminal", lambda: True)


def test_piped_rows_are_tab_separated(capsys):
    output.print_rows([{"word": "the", "cosine": 0.123456, "rank": None}, {"word": "a", "cosine": 123456.7, "rank": 2}])
    assert capsys.readouterr().out == "word\tcosine\trank\nthe\t0.1235\t-\na\t123457\t2\n"


def test_rows_on_a_terminal_are_aligned(capsys, terminal):
    output.print_rows([{"word": "the", "count": 5}, {"word": "queen", "count": 1234}, {"word": "日本", "count": None}])
    assert capsys.readouterr().out.splitlines() == ["word   count", "the        5", "queen   1234", "日本       -"]


def test_pairs(capsys, monkeypatch):
    output.print_pairs({"what": "text", "shape": [3, 4]})
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    output.print_pairs({"what": "text", "shape": [3, 4]})
    assert capsys.readouterr().out == "what\ttext\nshape\t3 4\nwhat   text\nshape  3 4\n"


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_rows_before_a_failure_are_printed(capsys, monkeypatch, as_json, is_terminal):
    monkeypatch.setattr(output, "is_terminal", lambda: is_terminal)
    with pytest.raises(ValueError, match="second row"):
        output.print_rows(rows_until_failure(), as_json)
    text = capsys.readouterr().out
    if as_json:
        assert json.loads(text) == [{"word": "the", "cosine": 0.5}]
    else:
        assert text.split() == ["word", "cosine", "the", "0.5000" if is_terminal else "0.5"]


@pytest.mark.parametrize(("as_json", "text"), [(True, "[]\n"), (False, "")])
def test_no_rows(capsys, as_json, text):
    output.print_rows([], as_json)
    assert capsys.readouterr().out == text


def test_json_has_no_nan_and_converts_other_values(capsys):
    """NaN is not JSON; dates and numbers of numpy are what rows of tables hold."""
    output.print_rows(
        [{"value": float("nan"), "date": date(2026, 1, 2), "count": np.int64(3), "rows": np.ones(2)}], True
    )
    (row,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert row == {"value": None, "date": "2026-01-02", "count": 3, "rows": [1.0, 1.0]}

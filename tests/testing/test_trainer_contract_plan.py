"""Plans that do not fit their data violate the contract."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

import embeddings as em
from embeddings.models.table import word_vectors
from embeddings.plugins import skipgram
from embeddings.testing.trainer_contract import check_plan
from embeddings.training.stream import TokenStream
from embeddings.training.training_data import prepare

TEXT = [["a", "b", "c", "d"]] * 200


@pytest.fixture
def data():
    """Data for a small skip-gram."""
    return prepare(em.SkipGram(dim=8, min_count=1, epochs=2), em.Corpus(TEXT), threads=1)


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        (lambda tables: [tables["words"]], r"operands of a compiled kernel must be a NamedTuple, got \[array"),
        (
            lambda tables: skipgram.SkipGramOperands(tables["words"].astype(np.float64), None),
            "operands do not share the memory of the table 'words'",
        ),
    ],
)
def test_operands_share_the_memory_of_the_words(data, operands, message):
    with pytest.raises(AssertionError, match=message):
        check_plan(data, replace(data.trainer.plan(data), operands=operands))


def test_buffers_are_step_buffers(data):
    with pytest.raises(AssertionError, match="buffers of a plan must return StepBuffers, got None"):
        check_plan(data, replace(data.trainer.plan(data), buffers=lambda: None))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (word_vectors(5, 8), "one row for each of the 4 words, got 5"),
        (replace(word_vectors(4, 8), slots=2), "one row for each of the 4 words, got 4 rows of 2 slots"),
        (word_vectors(4, 16), "8 numbers in a row, as the setting dim says, got 16"),
    ],
)
def test_vectors_have_one_row_for_each_word(data, table, message):
    plan = data.trainer.plan(data)
    with pytest.raises(AssertionError, match=f"'words', saved as 'vectors', must have {message}"):
        check_plan(data, replace(plan, tables={**plan.tables, "words": table}))


def with_stream(data, **methods):
    """The plan of a skip-gram whose stream has other methods."""
    plan = data.trainer.plan(data)
    kind = dataclass(frozen=True)(type("Broken", (TokenStream,), methods))
    return replace(plan, stream=kind(plan.stream.source, plan.stream.make_block))


class NotATuple:
    """A block that is not a NamedTuple."""

    cursor = np.zeros(8, np.int64)


class ListBlock(NamedTuple):
    """A block that does not consist of arrays."""

    cursor: list


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"units": 800.0}, "units of Broken must be an int, got 800.0"),
        ({"units": None}, "units of Broken must be an int, got None"),
        (
            {"bounds": lambda self, shares: [0, 700]},
            r"bounds of Broken must be 2 numbers .* from 0 to 800, got \[0, 700\]",
        ),
        ({"bounds": lambda self, shares: [0]}, "bounds of Broken must be 2 numbers in order"),
        (
            {"new_block": lambda self: NotATuple()},
            "new_block of Broken must return a NamedTuple of arrays, got .*NotATuple",
        ),
        (
            {"new_block": lambda self: ListBlock([0])},
            "new_block of Broken must return a NamedTuple of arrays, got ListB",
        ),
        ({"fill": lambda self, block, chunk, random: None}, "fill of Broken must return the number of units, got None"),
        ({"fill": lambda self, *args: float(TokenStream.fill(self, *args))}, "fill of Broken .* got 0.0"),
        ({"fill": lambda self, *args: -1}, "fill of Broken .* got -1"),
    ],
)
def test_streams_that_violate_the_contract(data, methods, message):
    with pytest.raises(AssertionError, match=message):
        check_plan(data, with_stream(data, **methods))


def test_a_stream_has_a_random_order_unless_the_trainer_refuses_to_shuffle(data):
    def ordered(self, begin, end, order):
        return TokenStream.chunks(self, begin, end, None)

    with pytest.raises(AssertionError, match="Broken has no random order"):
        check_plan(data, with_stream(data, chunks=ordered))

    class Ordered(em.SkipGram):
        def __post_init__(self):
            super().__post_init__()
            if self.shuffle:
                raise em.errors.SettingError("shuffle is not supported")

    check_plan(replace(data, trainer=Ordered(dim=8, min_count=1)), with_stream(data, chunks=ordered))

"""Plans that cannot be run are refused when they are declared, or before anything is learned."""

from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, DeclarationError, SettingError
from embeddings.kernels.loss_tally import EXAMPLES
from embeddings.models.table import Table, word_vectors
from embeddings.plugins import skipgram
from embeddings.training import document_trainer
from embeddings.training.run import Run
from embeddings.training.stream import Chunk, TokenStream
from embeddings.training.training_data import prepare

TEXT = [["a", "b", "c", "d"]] * 200


@pytest.fixture
def data():
    """Data for a small skip-gram."""
    return prepare(em.SkipGram(dim=8, min_count=1, epochs=2), em.Corpus(TEXT), threads=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tables": {"rows": Table(rows=4, dim=8, axis="words")}}, "none of the tables rows.*'vectors'"),
        ({"tables": {name: word_vectors(4, 8) for name in "ab"}}, "saved under one name: vectors, vectors"),
    ],
)
def test_impossible_plans_are_refused(data, changes, message):
    plan = data.trainer.plan(data)
    with pytest.raises(DeclarationError, match=message):
        replace(plan, **changes)


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        (
            lambda tables: skipgram.SkipGramOperands(tables["words"], None),
            r"kernel learn_block does not fit .*: there is no run_step for none \(.*objective.py, line \d+\)$",
        ),
        (
            lambda tables: document_trainer.Inference(1, 1, 0.1, 0.1, 8, tables["words"]),
            r"kernel learn_block does not fit .*: Unknown attribute 'words' of type Inference \(.*skipgram.py, line",
        ),
        (
            lambda tables: skipgram.SkipGramOperands(tables["rows"], None),
            "uses the table 'rows', but declares only words, out",
        ),
    ],
)
def test_operands_that_do_not_fit_the_kernel_are_refused(data, operands, message):
    plan = replace(data.trainer.plan(data), operands=operands)
    with pytest.raises(DeclarationError, match=message) as info:
        Run(data, plan)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            lambda plan: {"export": lambda tables: {"rows": tables["output"]}},
            "uses the table 'vectors', but declares only rows",
        ),
        (
            lambda plan: {"export": lambda tables: {"vectors": tables["rows"]}},
            "uses the table 'rows', but declares only vectors, output",
        ),
        (lambda plan: {"word_table": "rows"}, "uses the table 'rows', but declares only words, output"),
        (
            lambda plan: {"tables": plan.tables | {"words": replace(word_vectors(4, 8), zeros=lambda: np.eye(4, 8))}},
            r"zeros of a table must return float32 \(4, 16\), got float64 \(4, 8\)",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(data, changes, message):
    vectors = em.SkipGram(dim=8, min_count=1, epochs=1).train(TEXT, threads=1).vectors
    data = replace(data, run_options=em.training.RunOptions(init=em.InitFrom(vectors)))
    plan = data.trainer.plan(data)
    with pytest.raises(DeclarationError, match=message):
        Run(data, replace(plan, **changes(plan))).train()


def with_stream(data, **methods):
    """The plan of a skip-gram whose stream has other methods."""
    plan = data.trainer.plan(data)
    kind = dataclass(frozen=True)(type("Broken", (TokenStream,), methods))
    return replace(plan, stream=kind(plan.stream.source, plan.stream.make_block))


def shortened(self, begin, end, order):
    """The whole share in the first epoch, half of it in later ones."""
    lengths = self.__dict__.setdefault("lengths", [])
    lengths.append(end - begin if not lengths else (end - begin) // 2)
    return iter([Chunk(self.source, begin, begin + lengths[-1])])


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"fill": lambda self, *args: TokenStream.fill(self, *args) or 3}, "803 of the 800 words"),
        ({"fill": lambda self, *args: max(TokenStream.fill(self, *args) - 3, 0)}, "797 of the 800 words"),
        ({"chunks": shortened}, "400 of the 800 words"),
        ({"is_empty": lambda self, block: None}, "Broken gave no units in 1,000 reads in a row"),
        ({"chunks": lambda self, *args: repeat(self.empty_chunk)}, "Broken gave no units in 1,000 reads in a row"),
    ],
)
def test_streams_that_do_not_give_their_units_are_refused(data, methods, message):
    with pytest.raises(DeclarationError, match=message):
        Run(data, with_stream(data, **methods)).train()


def test_an_empty_stream_is_refused(data):
    with pytest.raises(CorpusError, match="no words to learn from"):
        Run(data, with_stream(data, units=0))


def test_tied_tables_have_one_row_for_each_word(data):
    class TiedSlots(em.SkipGram):
        slots = 2

    settings = TiedSlots(dim=8, min_count=1, tie=True)
    with pytest.raises(DeclarationError, match="weight tying requires one output row for each word, got 2 slots"):
        settings.plan(data)


def test_compiling_changes_nothing_of_a_thread(data):
    """The first thread compiles the kernels; its block, random numbers and tally stay as they are."""

    def fill(self, block, chunk, random):
        random[1] += np.uint64(5)
        block.words[:] = 3
        return TokenStream.fill(self, block, chunk, random)

    worker = Run(data, with_stream(data, fill=fill)).executor.workers[0]
    assert worker.random[1] == 0
    assert not worker.block.words.any()
    assert worker.tally.done == worker.buffers.tally[EXAMPLES] == 0


def test_tables_that_cannot_be_continued_are_never_copied():
    class TreeSkipGram(em.SkipGram):
        trainer_name = "tree-skipgram"

        def plan(self, data):
            plan = super().plan(data)
            return replace(plan, tables={**plan.tables, "output": replace(plan.tables["output"], axis="other")})

    trainer = TreeSkipGram(dim=8, min_count=1)
    model = trainer.train(TEXT, threads=1)
    with pytest.raises(SettingError, match=r"tree-skipgram.*'output'"):
        trainer.train(TEXT, threads=1, run_options=em.training.RunOptions(continued=model))


def test_threads_beyond_those_of_a_trainer_are_refused():
    class SingleThreaded(em.SkipGram):
        trainer_name = "single-threaded"
        max_threads = 1

    trainer = SingleThreaded(dim=8, min_count=1)
    assert trainer.train(TEXT).record["threads"] == 1
    with pytest.raises(SettingError, match=r"threads.*\[1, 1\].*2"):
        trainer.train(TEXT, threads=2)

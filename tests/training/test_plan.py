"""Plans that cannot be run are refused when they are declared, or before anything is learned."""

from dataclasses import dataclass, replace

import pytest

import embeddings as em
from embeddings.errors import CorpusError, DeclarationError, SettingError
from embeddings.models.table import Table, word_vectors
from embeddings.plugins import skipgram
from embeddings.training.run import Run
from embeddings.training.stream import TokenStream
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import prepare

TEXT = [["a", "b", "c", "d"]] * 200


@pytest.fixture
def data():
    """Data for a small skip-gram."""
    return prepare(em.SkipGram(dim=8, min_count=1, epochs=2), em.Corpus(TEXT), threads=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cached_inputs": "rows"}, "'rows'.*words, output"),
        ({"tables": {"rows": Table(rows=4, dim=8, axis="words")}}, "none of the tables rows.*'vectors'"),
        ({"stream": [1, 2, 3]}, r"Stream.*\[1, 2, 3\]"),
        ({"tables": [Table(rows=4, dim=8, axis="words")]}, "tables of a plan must be a dict"),
        ({"tables": {"vectors": [1, 2]}}, "tables of a plan must be a dict"),
        ({"tables": {name: word_vectors(4, 8) for name in "ab"}}, "two of the tables a, b are saved as 'vectors'"),
        ({"kernel": None}, "kernel of a plan must be a function, got None"),
        ({"operands": [1]}, r"operands of a plan must be a function, got \[1\]"),
    ],
)
def test_impossible_plans_are_refused(data, changes, message):
    plan = data.settings.plan(data)
    with pytest.raises(DeclarationError, match=message):
        replace(plan, **changes)


def test_operands_that_do_not_fit_the_kernel_are_refused(data):
    plan = replace(data.settings.plan(data), operands=lambda tables: skipgram.Operands(tables["words"], None))
    with pytest.raises(DeclarationError, match="kernel does not fit the declared tables"):
        Run(data, plan)


@pytest.mark.parametrize("table", [word_vectors(5, 8), replace(word_vectors(4, 8), slots=2)])
def test_vectors_have_one_row_for_each_word(data, table):
    plan = data.settings.plan(data)
    with pytest.raises(
        DeclarationError, match="'words', saved as 'vectors', must have one row for each of the 4 words"
    ):
        Run(data, replace(plan, tables={**plan.tables, "words": table}))


def test_an_export_without_vectors_is_refused(data):
    plan = replace(data.settings.plan(data), export=lambda tables: {"rows": tables["words"]})
    with pytest.raises(DeclarationError, match="must return 'vectors', got rows"):
        Run(data, plan).train()


def test_an_unknown_table_of_words_is_refused(data):
    vectors = em.SkipGram(dim=8, min_count=1, epochs=1).train(TEXT, threads=1).vectors
    data = replace(data, run_options=em.RunOptions(init=em.InitFrom(vectors)))
    with pytest.raises(DeclarationError, match="'rows', is not a table: words, output"):
        Run(data, replace(data.settings.plan(data), word_table="rows"))


def test_a_trainer_without_a_plan_is_refused():
    class Planless(Trainer):
        trainer_name = "planless"

    with pytest.raises(DeclarationError, match="planless must define plan or learn"):
        Planless().train(TEXT, threads=1)


def test_a_plan_must_be_a_plan(data):
    with pytest.raises(DeclarationError, match="plan of the trainer skipgram must be a Plan, got None"):
        Run(data, None)


@dataclass(frozen=True)
class EmptyStream(TokenStream):
    """It has no units."""

    units = 0


def test_an_empty_stream_is_refused(data):
    plan = data.settings.plan(data)
    with pytest.raises(CorpusError, match="no words to learn from"):
        Run(data, replace(plan, stream=EmptyStream(plan.stream.source, plan.stream.make_block)))


@dataclass(frozen=True)
class EndlessStream(TokenStream):
    """It never ends."""

    def fill(self, block, chunk, random):
        return super().fill(block, chunk, random) or 3


def test_a_stream_that_gives_more_units_than_it_declares_is_refused(data):
    plan = data.settings.plan(data)
    stream = EndlessStream(plan.stream.source, plan.stream.make_block)
    with pytest.raises(DeclarationError, match="803 of the 800 words"):
        Run(data, replace(plan, stream=stream)).train()


@dataclass(frozen=True)
class ShrinkingStream(TokenStream):
    """It says that a word was read for each that was, except the last ones."""

    def fill(self, block, chunk, random):
        return max(super().fill(block, chunk, random) - 3, 0)


def test_a_stream_that_gives_fewer_units_than_it_declares_is_refused(data):
    plan = data.settings.plan(data)
    stream = ShrinkingStream(plan.stream.source, plan.stream.make_block)
    with pytest.raises(DeclarationError, match="797 of the 800 words"):
        Run(data, replace(plan, stream=stream)).train()


def test_tables_that_cannot_be_continued_are_never_copied():
    class TreeSkipGram(em.SkipGram):
        trainer_name = "tree-skipgram"

        def plan(self, data):
            plan = super().plan(data)
            return replace(plan, tables={**plan.tables, "output": replace(plan.tables["output"], axis="other")})

    trainer = TreeSkipGram(dim=8, min_count=1)
    model = trainer.train(TEXT, threads=1)
    with pytest.raises(SettingError, match=r"tree-skipgram.*'output'"):
        trainer.train(TEXT, threads=1, run_options=em.RunOptions(continued=model))


def test_a_plan_requires_a_schedule():
    class Unscheduled(Trainer):
        trainer_name = "unscheduled"

        def plan(self, data):
            return em.SkipGram(dim=8, min_count=1).plan(replace(data, settings=em.SkipGram(dim=8, min_count=1)))

    with pytest.raises(DeclarationError, match=r"unscheduled.*Schedule"):
        Unscheduled().train(TEXT, threads=1)


def test_threads_beyond_those_of_a_trainer_are_refused():
    class SingleThreaded(em.SkipGram):
        trainer_name = "single-threaded"
        max_threads = 1

    trainer = SingleThreaded(dim=8, min_count=1)
    assert trainer.train(TEXT).record["threads"] == 1
    with pytest.raises(SettingError, match=r"threads.*\[1, 1\].*2"):
        trainer.train(TEXT, threads=2)

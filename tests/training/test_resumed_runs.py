"""A run that goes on from a checkpoint ends as one that was never stopped; wherever it halted, in every model."""

import numpy as np
import pytest
from resuming import FORMS, arrays, corpus, interrupted_after, learn

import embeddings as em
from embeddings.kernels.block import FIRST, LAST
from embeddings.plugins import skipgram as plugin
from embeddings.training import shuffle as shuffling
from embeddings.training.parameters import zero_rows
from embeddings.training.run_options import RunOptions
from embeddings.training.task import prepare


@pytest.mark.slow
@pytest.mark.parametrize(("trainer", "settings"), FORMS, ids=str)
def test_halted_again_and_again_it_ends_with_the_same_bytes(trainer, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "RUN", 1000)
    monkeypatch.setattr(shuffling, "TOGETHER", 3)
    text = corpus(trainer)
    whole = learn(trainer, text, settings)
    checkpoints = em.Checkpoints(tmp_path / "c")
    for number, looks in enumerate([1, 2, 3, 5, 4, 2, 7, 3, 4]):
        with interrupted_after(looks), pytest.raises(em.Interrupted):
            learn(trainer, text, settings, checkpoints=checkpoints, resume=number > 0)
    again = learn(trainer, text, settings, checkpoints=checkpoints, resume=True)
    assert arrays(again) == arrays(whole)
    for name in ("words", "total_words", "steps", "loss_by_epoch"):
        assert again.record[name] == whole.record[name]


@pytest.mark.parametrize("looks", range(1, 14))
@pytest.mark.parametrize("shuffle", [False, True])
def test_every_border_of_a_block_is_a_place_to_go_on_from(looks, shuffle, tmp_path):
    text, settings = corpus("cbow"), {"shuffle": shuffle, "epochs": 3}
    whole = learn("cbow", text, settings)
    checkpoints = em.Checkpoints(tmp_path / "c")
    with interrupted_after(looks), pytest.raises(em.Interrupted):
        learn("cbow", text, settings, checkpoints=checkpoints)
    assert arrays(learn("cbow", text, settings, checkpoints=checkpoints, resume=True)) == arrays(whole)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [2, 3])
def test_with_more_threads_every_word_is_read_once_in_every_epoch(threads, shuffle, tmp_path, monkeypatch):
    """A kernel that only counts, of threads that halt each at a place of its own."""
    monkeypatch.setattr(shuffling, "RUN", 500)
    made = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, window=4, shuffle=shuffle)
    checkpoints, seen = em.Checkpoints(tmp_path / "c"), []

    def learn_block(block, tables, buffers, rate):
        seen.append(block.words[block.cursor[FIRST] : block.cursor[LAST]].copy())

    def go_on(resume):
        run_options = RunOptions(checkpoints=checkpoints, resume=resume)
        task = prepare("skipgram", made, corpus("skipgram"), threads=threads, run_options=run_options)
        size = len(task.vocabulary)
        tables = plugin.Tables(words=zero_rows(size, 8), output=zero_rows(size, 8))
        return task, task.run(learn_block, tables, lambda: plugin.new_bundle(8, 6, 16))

    for number, looks in enumerate((3, 1, 4)):
        with interrupted_after(looks), pytest.raises(em.Interrupted):
            go_on(number > 0)
    task, model = go_on(True)
    counts = np.bincount(np.concatenate(seen), minlength=len(task.vocabulary))
    assert counts.tolist() == (3 * task.vocabulary.counts).tolist()
    assert model.record["words"] == model.record["total_words"] == 3 * len(task.encoded.ids)


def test_checkpoints_on_the_way_change_nothing(tmp_path):
    text = corpus("skipgram")
    whole = learn("skipgram", text, {"epochs": 40})
    checkpoints = em.Checkpoints(tmp_path / "c", every="1w")
    assert arrays(learn("skipgram", text, {"epochs": 40}, checkpoints=checkpoints)) == arrays(whole)
    assert checkpoints.paths()


def test_the_time_before_is_counted(tmp_path):
    text, checkpoints = corpus("cbow"), em.Checkpoints(tmp_path / "c")
    with interrupted_after(3), pytest.raises(em.Interrupted) as stopped:
        learn("cbow", text, {}, checkpoints=checkpoints)
    before, seconds = stopped.value.model.record, checkpoints.latest().facts["tally"]["seconds"]
    again = learn("cbow", text, {}, checkpoints=checkpoints, resume=True).record
    assert again["seconds"] > round(seconds, 3)
    assert again["words"] > before["words"] > 0

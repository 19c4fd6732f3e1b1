"""Groups of models: one run for each seed, the text read once, and nothing lost by an interrupt."""

import json

import pytest
from interrupted_runs import SMALL, interrupted_at_check, table_bytes

import embeddings as em
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.training import Interrupted, ModelGroup, RunOptions, train_group

TRAINER = em.SkipGram(**SMALL)
LINES = ["the cat sat on the mat", "the dog sat on the log"] * 5000


def corpus():
    """A corpus that can be read once only."""
    return em.Corpus(iter(LINES))


def test_a_group_has_the_models_of_single_runs(tmp_path):
    group = train_group(TRAINER, corpus(), tmp_path / "group", seeds=(7, 3), threads=1)
    assert [path.name for path in group.paths] == ["seed-3", "seed-7"]
    for seed, model in zip((3, 7), group.models, strict=True):
        assert table_bytes(model) == table_bytes(TRAINER.train(LINES, threads=1, seed=seed))
    loaded = ModelGroup.load(tmp_path / "group")
    assert (loaded.seeds, loaded.finished, loaded.missing) == ([7, 3], [7, 3], [])
    assert loaded.run["settings"]["dim"] == SMALL["dim"]


def test_an_interrupted_group_is_resumed_with_the_same_bytes(tmp_path):
    out = tmp_path / "group"
    options = RunOptions(checkpoints=em.Checkpoints(tmp_path / "unused", every="1kw"))
    train_group(TRAINER, corpus(), out, seeds=(1,), threads=1)
    first = (out / "seed-1" / "model.json").stat()
    with interrupted_at_check(8), pytest.raises(Interrupted):
        train_group(TRAINER, corpus(), out, seeds=(1, 2, 3), threads=1, run_options=options, resume=True)
    assert ModelGroup.load(out).missing == [2, 3]
    assert (out / "seed-2.checkpoints").is_dir()
    with pytest.raises(OutputError, match="exists"):
        train_group(TRAINER, corpus(), out, threads=1)
    group = train_group(TRAINER, corpus(), out, threads=1, run_options=options, resume=True)
    assert group.missing == []
    assert (out / "seed-1" / "model.json").stat() == first
    assert sorted(path.name for path in out.iterdir()) == ["group.json", "seed-1", "seed-2", "seed-3"]
    assert not (tmp_path / "unused").exists()
    for seed, model in zip((1, 2, 3), group.models, strict=True):
        assert table_bytes(model) == table_bytes(TRAINER.train(LINES, threads=1, seed=seed))


def test_resume_refuses_runs_of_another_kind(tmp_path):
    out = tmp_path / "group"
    train_group(TRAINER, corpus(), out, seeds=(1,), threads=1)
    with pytest.raises(OutputError, match=r"dim was 8, but is 9 now"):
        train_group(em.SkipGram(**SMALL | {"dim": 9}), corpus(), out, threads=1, resume=True)
    with pytest.raises(OutputError, match="corpus was"):
        train_group(TRAINER, LINES[1:], out, threads=1, resume=True)
    assert ModelGroup.load(out).finished == [1]


def test_force_replaces_a_group_and_nothing_else(tmp_path):
    out = tmp_path / "group"
    train_group(TRAINER, corpus(), out, seeds=(1, 2), threads=1)
    group = train_group(TRAINER, LINES[1:], out, seeds=(1,), threads=1, force=True)
    assert sorted(path.name for path in out.iterdir()) == ["group.json", "seed-1"]
    assert table_bytes(group.models[0]) == table_bytes(TRAINER.train(LINES[1:], threads=1))
    (out / "seed-1" / "notes.txt").touch()
    for seeds in ((1, 2), (2,)):
        with pytest.raises(OutputError, match=r"notes\.txt"):
            train_group(TRAINER, corpus(), out, seeds=seeds, threads=1, force=True)
    assert ModelGroup.load(out).finished == [1]
    (out / "notes.txt").touch()
    for path in (out, tmp_path):
        with pytest.raises(OutputError, match="is not replaced"):
            train_group(TRAINER, corpus(), path, threads=1, force=True)
    with pytest.raises(OutputError, match=r"s3://bucket/group.*local"):
        train_group(TRAINER, corpus(), "s3://bucket/group")


@pytest.mark.parametrize("seeds", [(), (1, 1), (1.0,), (True,), (-1,)])
def test_seeds_are_distinct_whole_numbers(tmp_path, seeds):
    with pytest.raises(SettingError, match="seed"):
        train_group(TRAINER, corpus(), tmp_path / "group", seeds=seeds)
    assert not (tmp_path / "group").exists()


def test_a_group_is_not_a_model(tmp_path):
    out = tmp_path / "group"
    train_group(TRAINER, corpus(), out, seeds=(4,), threads=1)
    for load in (em.load, em.load_model):
        with pytest.raises(FormatError, match=r"group is a group of models: name one of them, such as .*seed-4"):
            load(out)


@pytest.mark.parametrize("change", [{"seeds": ["1"]}, {"finished": None}, {"format_version": 2}])
def test_broken_records_are_refused(tmp_path, change):
    record = {"format_version": 1, "run": {}, "seeds": [1], "finished": []}
    (tmp_path / "group.json").write_text(json.dumps(record))
    with pytest.raises(SettingError, match="no run of the group"):
        _ = ModelGroup.load(tmp_path).paths
    (tmp_path / "group.json").write_text(json.dumps(record | change))
    with pytest.raises(FormatError, match=r"group\.json"):
        ModelGroup.load(tmp_path)

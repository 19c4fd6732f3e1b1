"""Checkpoints on disk: when they are written, how many remain, and one-line errors about damaged and foreign ones."""

import json
import os
import shutil
from unittest import mock

import numpy as np
import pytest
from interrupted_runs import SMALL, corpus, interrupted_after, interrupted_checkpoints, learn, never_read

import embeddings as em
from embeddings.errors import OutputError, RemoteError, SettingError
from embeddings.kernels.block import FILLED, HISTORY_START
from embeddings.support import tensors
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training import checkpoints as module
from embeddings.training import worker
from embeddings.training.checkpoints import RECORD, TENSORS, CheckpointError, CheckpointWriter, Interval, checksum


def test_auto_interval_depends_on_the_cost_of_the_last_checkpoint(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(em.Checkpoints, "write", lambda self, state, words: clock.__setitem__(0, clock[0] + 2))
    writer = CheckpointWriter(em.Checkpoints(tmp_path / "c"), 0)
    assert not writer.is_due(10, size=0)
    clock[0] = 60
    assert writer.is_due(10, size=0)
    assert not writer.is_due(10, size=10**9)  # estimated to take two seconds
    writer.write(None, em.training.Progress(10, 20, 1, 1, 0.1, None, 1.0))
    clock[0] = 62 + 199
    assert not writer.is_due(10, size=0)
    clock[0] = 62 + 201
    assert writer.is_due(10, size=0)


def test_the_last_few_are_retained(tmp_path):
    checkpoints = em.Checkpoints(tmp_path / "c", keep=2)
    state = module.RunState({}, {}, {"x": np.arange(3)})
    paths = [checkpoints.write(state, words) for words in (5, 10, 100, 2000)]
    assert checkpoints.paths() == paths[-2:]
    assert sorted(path.name for path in checkpoints.folder.iterdir()) == [path.name for path in paths[-2:]]
    assert checkpoints.latest().arrays["x"].tolist() == [0, 1, 2]


def test_incomplete_checkpoints_are_ignored_and_removed(tmp_path):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    (whole,) = checkpoints.paths()
    (checkpoints.folder / ".words-000000000000009.x.partial").mkdir()
    cut = checkpoints.folder / "words-999999999999999"
    shutil.copytree(whole, cut)
    (cut / RECORD).unlink()
    assert checkpoints.paths() == [whole]
    model = learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True)
    assert model.record["words"] == model.record["total_words"]
    assert [path.name for path in checkpoints.folder.iterdir()] == [whole.name]


def test_other_folders_are_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "REPORT_INTERVAL", 0.001)  # else a run this small writes no checkpoint
    others = ["words-lists", "words-en", ".words-old.partial", "words-0000000000000012"]
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    (tmp_path / "words-en" / RECORD).write_text("{}")
    for options in ({}, {"resume": True}, {"force": True}):
        checkpoints = em.Checkpoints(tmp_path, every="1w", force=options.pop("force", False))
        learn("skipgram", synonym_corpus(), {"epochs": 400}, checkpoints=checkpoints, **options)
        assert checkpoints.paths()
        checkpoints.remove_all()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_checkpoints_of_an_unfinished_run_are_replaced_only_with_force(tmp_path):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    with pytest.raises(OutputError, match=r"c holds checkpoints.*resume=True.*force=True"):
        learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints)
    assert checkpoints.paths()
    learn("skipgram", synonym_corpus(), {}, checkpoints=em.Checkpoints(tmp_path / "c", force=True))
    assert not checkpoints.paths()


def test_a_link_in_place_of_a_checkpoint_is_removed_without_its_target(tmp_path):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 20)
    first = checkpoints.paths()[0].rename(tmp_path / "elsewhere")
    (tmp_path / "c" / "words-000000000000001").symlink_to(first)
    before = {path: path.read_bytes() for path in first.iterdir()}
    learn("skipgram", synonym_corpus(), {}, checkpoints=em.Checkpoints(tmp_path / "c", force=True))
    assert {path: path.read_bytes() for path in first.iterdir()} == before
    assert not checkpoints.paths()


def test_unwritable_folders_are_refused_before_the_corpus_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in (tmp_path / "no" / "c", tmp_path / "file", tmp_path / "link"):
        with pytest.raises(OutputError, match=r"is not a folder"):
            em.train("skipgram", em.Corpus(never_read()), checkpoints=em.Checkpoints(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 9}, r"dim.*8.*9"),
        ({"seed": 4}, r"seed.*3.*4"),
        ({"threads": 2}, r"threads.*1.*2"),
        ({"learning_rate": 0.1, "window": 3}, r"learning_rate.*0\.05.*0\.1.*window.*5.*3"),
        ({"trainer": "cbow"}, r"trainer.*skipgram.*cbow"),
        ({"corpus": [["a", "b"]] * 9}, r"corpus.*[0-9a-f]{8}.*vocabulary"),
        ({"callbacks": [em.EarlyStopping(score=lambda model: 1.0)]}, r"callbacks.*EarlyStopping"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "message",
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change, message):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    arguments = {"trainer": "skipgram", "corpus": synonym_corpus(), **SMALL, "seed": 3, "threads": 1, **change}
    with pytest.raises(CheckpointError, match=r"another run: .*" + message) as error:
        em.train(**arguments, checkpoints=checkpoints, resume=True)
    assert "\n" not in str(error.value)
    assert checkpoints.paths()


@pytest.mark.parametrize("trainer", ["cbow", "paragraph-dbow", "tensor-indexing"])
def test_another_run_is_refused_before_the_corpus_is_read(tmp_path, trainer):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    with pytest.raises(CheckpointError, match="another run"):
        em.train(trainer, em.Corpus(never_read()), checkpoints=checkpoints, resume=True)
    (checkpoints.paths()[-1] / "checkpoint.json").write_text("no")
    with pytest.raises(CheckpointError, match=r"cannot use the last checkpoint"):
        em.train(trainer, em.Corpus(never_read()), checkpoints=checkpoints, resume=True)


def test_other_package_versions_are_refused(tmp_path, monkeypatch):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    monkeypatch.setattr("embeddings.training.run_options.package_versions", lambda: {"numpy": "0.1"})
    with pytest.raises(CheckpointError, match=r"numpy.*0\.1"):
        learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True)


def truncate(path):
    data = (path / TENSORS).read_bytes()
    (path / TENSORS).write_bytes(data[: len(data) // 2])


def change_arrays(change, *, is_signed=False):
    """Change the arrays of a checkpoint, with a matching checksum if it is signed."""

    def change_file(path):
        arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items()}
        arrays = change(arrays) or arrays
        tensors.save(arrays, path / TENSORS)
        if is_signed:
            change_record("values", "checksum", value=checksum(arrays))(path)

    return change_file


def remove_arrays(name):
    return change_arrays(lambda arrays: {key: array for key, array in arrays.items() if name not in key})


def change_number(name, number, value):
    """An invalid number that kernels would not check, with a matching checksum."""
    return change_arrays(lambda arrays: arrays[f"thread.0.{name}"].reshape(-1).put(number, value), is_signed=True)


flip_word = change_arrays(lambda arrays: arrays["thread.0.block.words"].put(7, 1 << 20))
change_table = change_arrays(lambda arrays: arrays["table.words"].put(0, 9))
shorten_table = change_arrays(lambda arrays: arrays | {"table.words": arrays["table.words"][:3]})


def change_record(*keys, value):
    def change(path):
        content = json.loads((path / RECORD).read_text())
        inner = content
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        (path / RECORD).write_text(json.dumps(content))

    return change


def change_value(*keys, value):
    """A broken number, with a matching checksum."""

    def change(path):
        change_record("values", *keys, value=value)(path)
        change_record("values", "checksum", value=checksum(tensors.load(path / TENSORS)))(path)

    return change


BROKEN_TALLIES = [
    ("seconds", float("nan")),
    ("words", [10**400]),
    ("words", ["many"]),
    ("words", [1, 2]),
    ("steps", [float("inf")]),
    ("sums", [[float("nan"), 1]]),
    ("sums", [[1, 2, 3]]),
    ("epoch_sums", 3),
    ("epoch_sums", []),
    ("epoch_sums", [[[1, float("inf")]]]),
    ("epoch_sums", [[1, 2]]),
]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (truncate, r"tensors\.safetensors"),
        (lambda path: (path / TENSORS).unlink(), r"tensors\.safetensors cannot be read"),
        (lambda path: (path / RECORD).write_text("{"), r"checkpoint\.json is truncated or broken"),
        (lambda path: (path / RECORD).write_text("[]"), "format version None"),
        (lambda path: (path / RECORD).write_bytes(os.urandom(99)), r"checkpoint\.json is truncated or broken"),
        (change_record("format_version", value=9), r"version 9.* 3"),
        (change_record("values", value=[]), "missing"),
        (change_record("values", "tally", "words", value=[1]), "checksum"),
        (change_record("values", "stopped", value=True), "checksum"),
        *((change_number("tally", number, value), "not finite") for number, value in enumerate([np.nan, np.inf])),
        *((change_value("tally", name, value=value), "incomplete") for name, value in BROKEN_TALLIES),
        (change_value("tally", value=[]), "incomplete"),
        (change_value("workers", value=[]), "incomplete"),
        (change_value("workers", value=[{"epochs": "x", "chunk": 0}]), "incomplete"),
        (change_value("average", value=[1, 1]), "incomplete.*averaged"),
        (remove_arrays("table.words"), r"incomplete.*KeyError.*table\.words"),
        (remove_arrays("random"), r"incomplete.*ValueError"),
        (flip_word, "checksum"),
        (change_table, "checksum"),
        (shorten_table, r"float32 \(3, 16\)"),
    ],
)
def test_damaged_checkpoints_are_refused_in_one_line(tmp_path, change, message):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    (path,) = checkpoints.paths()
    change(path)
    with pytest.raises(CheckpointError, match=message) as error:
        learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True)
    assert f"last checkpoint, {path}" in str(error.value)
    assert "\n" not in str(error.value)


CURSOR_VALUES = [("block.cursor", number, value) for number in range(7) for value in (-1, 1 << 40)]
BLOCK_VALUES = [
    ("inputs", 3, 1 << 20),
    ("inputs", 3, -1),
    ("noise", 9, 1 << 30),
    ("start", 5, -7),
    ("stop", 5, 1 << 40),
]


@pytest.mark.parametrize("trainer", ["cbow", "paragraph-dm", pytest.param("sembei", marks=pytest.mark.slow)])
def test_numbers_out_of_bounds_are_refused(tmp_path, trainer):
    """In the middle of an epoch, with a matching checksum."""
    checkpoints, text = em.Checkpoints(tmp_path / "c"), corpus(trainer)
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn(trainer, text, {}, checkpoints=checkpoints)
    (path,) = checkpoints.paths()
    good, record = (path / TENSORS).read_bytes(), (path / RECORD).read_text()
    numbers = [("starts", 9, 1 << 20), ("noise", 9, 1 << 30)] if trainer == "sembei" else BLOCK_VALUES
    numbers += [("documents", 0, 1 << 20)] * (trainer == "paragraph-dm")
    cursor_values = [one for one in CURSOR_VALUES if trainer != "sembei" or one[1] not in (HISTORY_START, FILLED)]
    for changed_number in [*cursor_values, *((f"block.{name}", number, value) for name, number, value in numbers)]:
        (path / TENSORS).write_bytes(good)
        (path / RECORD).write_text(record)
        change_number(*changed_number)(path)
        with pytest.raises(CheckpointError, match="outside its share"):
            learn(trainer, text, {}, checkpoints=checkpoints, resume=True)
    (path / TENSORS).write_bytes(good)
    (path / RECORD).write_text(record)
    learn(trainer, text, {}, checkpoints=checkpoints, resume=True)


def test_a_run_with_a_removed_setting_that_changes_it_is_not_resumed_without_it(tmp_path):
    """Models with the optimizer or the weights of words that text-pairs once had load, but runs would change midway."""
    record = interrupted_checkpoints(tmp_path / "c", 2).paths()[-1] / RECORD
    content = json.loads(record.read_text())
    removed = {"optimizer": "adam", "token_weights": "ones", "dims": None, "initializer": "normal"}
    content["fingerprint"] |= {"trainer": "text-pairs", "settings": removed}
    record.write_text(json.dumps(content))
    assert module.read_record(record.parent)[0]["settings"] == {"optimizer": "adam", "token_weights": "ones"}


@pytest.mark.parametrize("damage", [truncate, flip_word])
def test_earlier_checkpoint_is_used_once_the_damaged_one_is_removed(tmp_path, damage):
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    (good,) = checkpoints.paths()
    bad = checkpoints.folder / "words-000000000009999"
    shutil.copytree(good, bad)
    damage(bad)
    with pytest.raises(CheckpointError, match=rf"{bad}.*remove it"):
        learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True)
    shutil.rmtree(bad)
    assert learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True).record["words"] == 4800


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_training_continues_if_a_checkpoint_cannot_be_written(tmp_path, monkeypatch, caplog, error):
    def fails(arrays, path):
        path.write_bytes(b"half of it")
        raise error

    whole = learn("skipgram", synonym_corpus(), {"epochs": 400})
    monkeypatch.setattr(worker, "REPORT_INTERVAL", 0.001)  # else a run this small is over before a checkpoint is due
    monkeypatch.setattr(tensors, "save", fails)
    checkpoints = em.Checkpoints(tmp_path / "c", every="1w")
    model = learn("skipgram", synonym_corpus(), {"epochs": 400}, checkpoints=checkpoints)
    assert model.vectors.matrix.tobytes() == whole.vectors.matrix.tobytes()
    assert not list(tmp_path.glob("c/*")) and not list(tmp_path.glob("c/.*"))  # noqa: PT018
    assert error.strerror in caplog.text


def test_interrupt_returns_the_model_even_if_its_checkpoint_fails(tmp_path, monkeypatch, caplog):
    def fails(arrays, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensors, "save", fails)
    checkpoints = interrupted_checkpoints(tmp_path / "c", 2)
    assert not checkpoints.paths()
    assert "no checkpoint after 2,400 words" in caplog.text
    assert "No space left on device" in caplog.text


def test_a_remote_file_that_cannot_be_removed_does_not_keep_others(monkeypatch):
    removed = []

    def attempt(file, call, *, writes):
        if "protected" in file.path:
            raise RemoteError(file, "is protected")
        removed.append(file.path)

    monkeypatch.setattr(module, "attempt", attempt)
    monkeypatch.setattr("embeddings.support.remote.store.arrow_store", mock.MagicMock())
    remote = em.Checkpoints("s3://bucket/c").remote
    remote.remove_files([remote.address.child(name) for name in ("a/protected", "a/other", "a/checkpoint.json")])
    assert [path.rpartition("/")[2] for path in removed] == ["checkpoint.json", "other"]


@pytest.mark.parametrize(
    ("text", "seconds", "words"),
    [
        ("30s", 30, 0), ("10m", 600, 0), ("1h", 3600, 0), ("1.5h", 5400, 0), ("0.05s", 0.05, 0),
        ("5000000w", 0, 5e6), ("500kw", 0, 5e5), ("5Mw", 0, 5e6), ("0.5Gw", 0, 5e8),
    ],
)  # fmt: skip
def test_intervals(text, seconds, words):
    assert Interval.parse(text) == Interval(seconds, words)


@pytest.mark.parametrize(
    "text",
    ["", "60", "5000000", "0s", "0.0Mw", "-3s", "3 s", "3d", "5mw", "5MW", "1e3s", "s", "\u0661s", None, 60],
)
def test_invalid_intervals(text):
    with pytest.raises(SettingError, match=r"interval.*auto.*30s.*500kw"):
        em.Checkpoints("c", every=text)


def test_interval_is_over_after_time_words_and_cost():
    assert [Interval(seconds=10).is_over(s, 0, 99) for s in (9.9, 10)] == [False, True]
    assert [Interval(words=10).is_over(0, w, 99) for w in (9, 10)] == [False, True]
    auto = Interval.parse("auto")
    assert [auto.is_over(s, 0, 0.1) for s in (59, 61)] == [False, True]
    assert [auto.is_over(s, 0, 3) for s in (61, 299, 301)] == [False, False, True]

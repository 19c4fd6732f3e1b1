"""Checkpoints as files: how often, how many, whole or not, whose; damaged and foreign ones are refused in one line."""

import json
import os
import shutil

import numpy as np
import pytest
from resuming import broken_off, corpus, interrupted_after, learn

import embeddings as em
from embeddings.errors import OutputError, SettingError
from embeddings.kernels.block import HISTORY_START, FILLED
from embeddings.support import tensors
from embeddings.testing.trainer_contract import planted
from embeddings.training import checkpoints as module
from embeddings.training.checkpoint_interval import Interval
from embeddings.training.checkpoints import RECORD, TENSORS, CheckpointError, Keeper
from embeddings.training.state import checksum


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
def test_what_is_no_interval(text):
    with pytest.raises(SettingError, match=r"written every auto, a time such as 30s, 10m or 1h, or words .*, not "):
        em.Checkpoints("c", every=text)


def test_an_interval_is_over():
    assert [Interval(seconds=10).over(s, 0, 99) for s in (9.9, 10)] == [False, True]
    assert [Interval(words=10).over(0, w, 99) for w in (9, 10)] == [False, True]
    auto = Interval.parse("auto")
    assert [auto.over(s, 0, 0.1) for s in (59, 61)] == [False, True]
    assert [auto.over(s, 0, 3) for s in (61, 299, 301)] == [False, False, True]


def test_a_keeper_knows_what_its_last_one_cost(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(em.Checkpoints, "write", lambda self, state, words: clock.__setitem__(0, clock[0] + 2))
    keeper = Keeper(em.Checkpoints(tmp_path / "c"), 0)
    assert not keeper.due(10, size=0)
    clock[0] = 60
    assert keeper.due(10, size=0)
    assert not keeper.due(10, size=10**9)  # two seconds at a guess
    keeper.write(None, em.Progress(10, 20, 1, 1, 0.1, None, 1.0))
    clock[0] = 62 + 199
    assert not keeper.due(10, size=0)
    clock[0] = 62 + 201
    assert keeper.due(10, size=0)


@pytest.mark.parametrize("keep", [0, -1, 1.5, True])
def test_one_at_least_is_kept(keep):
    with pytest.raises(SettingError, match="keep must be"):
        em.Checkpoints("c", keep=keep)


def test_the_last_few_are_kept(tmp_path):
    made = em.Checkpoints(tmp_path / "c", keep=2)
    state = module.State({}, {}, {"x": np.arange(3)})
    paths = [made.write(state, words) for words in (5, 10, 100, 2000)]
    assert made.paths() == paths[-2:]
    assert sorted(path.name for path in made.folder.iterdir()) == [path.name for path in paths[-2:]]
    assert made.latest().arrays["x"].tolist() == [0, 1, 2]


def test_what_a_crash_left_is_no_checkpoint_and_is_swept(tmp_path):
    made = broken_off(tmp_path / "c", 2)
    (whole,) = made.paths()
    (made.folder / ".words-000000000000009.x.partial").mkdir()
    cut = made.folder / "words-999999999999999"
    shutil.copytree(whole, cut)
    (cut / RECORD).unlink()
    assert made.paths() == [whole]
    model = learn("skipgram", planted(), {}, checkpoints=made, resume=True)
    assert model.record["words"] == model.record["total_words"]
    assert [path.name for path in made.folder.iterdir()] == [whole.name]


def test_folders_of_others_are_left_alone(tmp_path):
    others = ["words-lists", "words-en", ".words-old.partial", "words-0000000000000012"]
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    (tmp_path / "words-en" / RECORD).write_text("{}")
    for given in ({}, {"resume": True}, {"force": True}):
        made = em.Checkpoints(tmp_path, every="1w", force=given.pop("force", False))
        learn("skipgram", planted(), {}, checkpoints=made, **given)
        made.remove_all()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_run_that_did_not_end_is_not_begun_anew_unasked(tmp_path):
    made = broken_off(tmp_path / "c", 2)
    with pytest.raises(OutputError, match=r"c holds checkpoints of a run that did not end: --resume .* --force begins"):
        learn("skipgram", planted(), {}, checkpoints=made)
    assert made.paths()
    learn("skipgram", planted(), {}, checkpoints=em.Checkpoints(tmp_path / "c", force=True))
    assert not made.paths()


def test_without_a_checkpoint_it_begins_at_the_beginning(tmp_path):
    model = learn("skipgram", planted(), {}, checkpoints=em.Checkpoints(tmp_path / "c"), resume=True)
    assert model.vectors.matrix.tobytes() == learn("skipgram", planted(), {}).vectors.matrix.tobytes()


def test_a_place_that_cannot_be_written_is_told_before_the_corpus_is_read(tmp_path):
    def never():
        raise AssertionError("the corpus was read")
        yield ["a"]

    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in (tmp_path / "no" / "c", tmp_path / "file", tmp_path / "link"):
        with pytest.raises(OutputError, match=r"is not a folder|is no folder, and checkpoints"):
            em.train("skipgram", em.Corpus(never()), checkpoints=em.Checkpoints(path))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"dim": 9}, "dim was 8, and is 9$"),
        ({"seed": 4}, "seed was 3, and is 4$"),
        ({"threads": 2}, "threads was 1, and is 2$"),
        ({"learning_rate": 0.1, "window": 3}, "rate was 0.025, and is 0.1; window was 5, and is 3$"),
        ({"trainer": "cbow"}, "trainer was skipgram, and is cbow; "),
        ({"corpus": [["a", "b"]] * 9}, "corpus was [0-9a-f]+, and is [0-9a-f]+; vocabulary was "),
        (
            {"callbacks": [em.EarlyStopping(score=lambda model: 1.0)]},
            "callbacks was .., and is .{'EarlyStopping': .*}.$",
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "told",
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change, told):
    made = broken_off(tmp_path / "c", 2)
    given = {"trainer": "skipgram", "corpus": planted(), "dim": 8, "min_count": 1, "epochs": 2, "subsample": 0.01}
    given |= {"seed": 3, "threads": 1, **change}
    with pytest.raises(CheckpointError, match="is of another run and cannot be gone on with: .*" + told) as caught:
        em.train(**given, checkpoints=made, resume=True)
    assert "\n" not in str(caught.value)
    assert made.paths()


@pytest.mark.parametrize("trainer", ["cbow", "paragraph-dbow", "tensor-indexing"])
def test_that_of_another_run_is_refused_before_the_corpus_is_read(tmp_path, trainer):
    def never():
        raise AssertionError("the corpus was read")
        yield ["a"]

    made = broken_off(tmp_path / "c", 2)
    with pytest.raises(CheckpointError, match="is of another run"):
        em.train(trainer, em.Corpus(never()), checkpoints=made, resume=True)
    (made.paths()[-1] / "checkpoint.json").write_text("no")
    with pytest.raises(CheckpointError, match=r"the last checkpoint, .*, cannot be used"):
        em.train(trainer, em.Corpus(never()), checkpoints=made, resume=True)


def test_other_versions_are_refused(tmp_path, monkeypatch):
    made = broken_off(tmp_path / "c", 2)
    monkeypatch.setattr("embeddings.training.run_fingerprint.installed", lambda: {"numpy": "0.1"})
    with pytest.raises(CheckpointError, match=r"numpy was .*, and is 0\.1"):
        learn("skipgram", planted(), {}, checkpoints=made, resume=True)


def cut(path):
    data = (path / TENSORS).read_bytes()
    (path / TENSORS).write_bytes(data[: len(data) // 2])


def without(name):
    def change(path):
        arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items() if name not in key}
        tensors.save(arrays, path / TENSORS)

    return change


def flipped(path):
    arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items()}
    arrays["thread.0.block.words"][7] += 1 << 20
    tensors.save(arrays, path / TENSORS)


def misplaced(name, number, value):
    """A wrong number where kernels look at no bounds, under a sum that fits."""

    def change(path):
        arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items()}
        arrays[f"thread.0.{name}"].reshape(-1)[number] = value
        tensors.save(arrays, path / TENSORS)
        told_otherwise("facts", "sum", value=checksum(arrays))(path)

    return change


def nudged(path):
    arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items()}
    arrays["table.words"][0, 0] += 1
    tensors.save(arrays, path / TENSORS)


def of_another_shape(path):
    arrays = {key: np.array(array) for key, array in tensors.load(path / TENSORS).items()}
    arrays["table.words"] = arrays["table.words"][:3]
    tensors.save(arrays, path / TENSORS)


def told_otherwise(*keys, value):
    def change(path):
        content = json.loads((path / RECORD).read_text())
        inner = content
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        (path / RECORD).write_text(json.dumps(content))

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (cut, "tensors.safetensors is truncated"),
        (lambda path: (path / TENSORS).unlink(), "tensors.safetensors cannot be read"),
        (lambda path: (path / RECORD).write_text("{"), "checkpoint.json is broken"),
        (lambda path: (path / RECORD).write_text("[]"), "checkpoint.json is of format version None"),
        (lambda path: (path / RECORD).write_bytes(os.urandom(99)), "checkpoint.json is broken"),
        (told_otherwise("format_version", value=9), "of format version 9; this package reads 1"),
        (told_otherwise("facts", value=[]), "it does not say of which run it is, or how far"),
        (told_otherwise("facts", "tally", "words", value=[1, 2]), "is damaged: the checkpoint is not whole"),
        (told_otherwise("facts", "workers", value=[]), "is damaged: the checkpoint is not whole"),
        (told_otherwise("facts", "workers", value=[{"epochs": "x", "piece": 0}]), "is damaged: the checkpoint is not"),
        (without("table.words"), "is damaged: the checkpoint is not whole: KeyError"),
        (without("random"), "is damaged: the checkpoint is not whole: ValueError"),
        (flipped, "is damaged: the checkpoint is not whole: ValueError: its bytes are not those that were written"),
        (nudged, "is damaged: the checkpoint is not whole: ValueError: its bytes are not those that were written"),
        (of_another_shape, r"is damaged: the checkpoint is not whole: ValueError: float32 \(3, 16\) stands where"),
    ],
)
def test_a_damaged_one_is_refused_in_one_line(tmp_path, change, told):
    made = broken_off(tmp_path / "c", 2)
    (path,) = made.paths()
    change(path)
    with pytest.raises(CheckpointError, match=told) as caught:
        learn("skipgram", planted(), {}, checkpoints=made, resume=True)
    assert str(caught.value).startswith(f"the last checkpoint, {path}, cannot be used: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [cut, flipped])
def test_of_a_damaged_one_it_is_told_that_there_is_one_before(tmp_path, change):
    made = broken_off(tmp_path / "c", 2)
    (path,) = made.paths()
    later = path.with_name("words-000000999999999")
    shutil.copytree(path, later)
    change(later)
    with pytest.raises(CheckpointError, match=f"{later}, cannot be used.*; remove it to go on from the one before$"):
        learn("skipgram", planted(), {}, checkpoints=made, resume=True)


PLACES = [("block.place", number, value) for number in range(7) for value in (-1, 1 << 40)]
NUMBERS = [("inputs", 3, 1 << 20), ("inputs", 3, -1), ("noise", 9, 1 << 30), ("start", 5, -7), ("stop", 5, 1 << 40)]


@pytest.mark.parametrize("trainer", ["cbow", "paragraph-dm", pytest.param("sembei", marks=pytest.mark.slow)])
def test_one_that_would_lead_kernels_astray_is_refused(tmp_path, trainer):
    """Numbers that are no place, in the midst of an epoch, under a sum that fits."""
    made, text = em.Checkpoints(tmp_path / "c"), corpus(trainer)
    with interrupted_after(2), pytest.raises(em.Interrupted):
        learn(trainer, text, {}, checkpoints=made)
    (path,) = made.paths()
    good, record = (path / TENSORS).read_bytes(), (path / RECORD).read_text()
    numbers = [("starts", 9, 1 << 20), ("lefts", 9, -2), ("noise", 9, 1 << 30)] if trainer == "sembei" else NUMBERS
    numbers += [("documents", 0, 1 << 20)] * (trainer == "paragraph-dm")
    places = [one for one in PLACES if trainer != "sembei" or one[1] not in (HISTORY_START, FILLED)]
    for misplacement in [*places, *((f"block.{name}", number, value) for name, number, value in numbers)]:
        (path / TENSORS).write_bytes(good)
        (path / RECORD).write_text(record)
        misplaced(*misplacement)(path)
        with pytest.raises(CheckpointError, match="its threads stand where there is no text"):
            learn(trainer, text, {}, checkpoints=made, resume=True)
    (path / TENSORS).write_bytes(good)
    (path / RECORD).write_text(record)
    learn(trainer, text, {}, checkpoints=made, resume=True)


def test_a_damaged_one_that_is_removed_leaves_the_one_before(tmp_path):
    made = broken_off(tmp_path / "c", 2)
    (good,) = made.paths()
    bad = made.folder / "words-000000000009999"
    shutil.copytree(good, bad)
    cut(bad)
    with pytest.raises(CheckpointError, match=r"truncated.*; remove it to go on from the one before$"):
        learn("skipgram", planted(), {}, checkpoints=made, resume=True)
    shutil.rmtree(bad)
    assert learn("skipgram", planted(), {}, checkpoints=made, resume=True).record["words"] == 4800


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_a_checkpoint_that_cannot_be_written_is_told_and_the_run_goes_on(tmp_path, monkeypatch, caplog, error):
    def fails(arrays, path):
        path.write_bytes(b"half of it")
        raise error

    whole = learn("skipgram", planted(), {"epochs": 400})
    monkeypatch.setattr(tensors, "save", fails)
    made = em.Checkpoints(tmp_path / "c", every="1w")
    model = learn("skipgram", planted(), {"epochs": 400}, checkpoints=made)
    assert model.vectors.matrix.tobytes() == whole.vectors.matrix.tobytes()
    assert not list(tmp_path.glob("c/*")) and not list(tmp_path.glob("c/.*"))  # noqa: PT018
    assert error.strerror in caplog.text or not caplog.text  # so small a run may be over before one is due


def test_an_interrupt_whose_checkpoint_fails_still_gives_the_model(tmp_path, monkeypatch, caplog):
    def fails(arrays, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensors, "save", fails)
    made = broken_off(tmp_path / "c", 2)
    assert not made.paths()
    assert "no checkpoint after 2,400 words" in caplog.text
    assert "No space left on device" in caplog.text


def test_a_trainer_that_knows_no_checkpoints_is_refused(tmp_path):
    from embeddings.training.run_options import RunOptions, train_arguments

    class Stranger:
        def train(self, corpus, *, threads=None, seed=1, report=None):
            raise AssertionError("it was run")

    told = "the trainer strange knows no checkpoints, .* its train has no 'run_options'"
    for run_options in (RunOptions(checkpoints=em.Checkpoints(tmp_path / "c")), RunOptions(callbacks=[em.Callback()])):
        with pytest.raises(SettingError, match=told):
            train_arguments(Stranger(), "strange", run_options)
    assert train_arguments(Stranger(), "strange", RunOptions()) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"resume": True}, "resume goes on from checkpoints: say where they are"),
        ({"checkpoints": "c"}, r"checkpoints must be embeddings\.Checkpoints, not 'c'"),
        ({"callbacks": [print]}, r"a callback must be an embeddings\.Callback, not <built-in"),
    ],
)
def test_what_a_run_is_asked_for_wrongly(given, told):
    with pytest.raises(SettingError, match=told):
        em.train("skipgram", planted(), **given)

"""Who is told of a run, of what and in which order; early stopping gives the best back; logs and curves."""

import json
import math
import os
import re
import threading

import numpy as np
import pytest
from resuming import arrays, interrupted_after, learn

import embeddings as em
from embeddings.cli.inspection import describe
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.testing.trainer_contract import planted
from embeddings.training.checkpoints import CheckpointError
from embeddings.training.loss_curve import draw_loss_curve, loss_points
from embeddings.training.run_log_reader import summarize_log


class Heard(em.Callback):
    """Writes down what it is told."""

    def __init__(self, name="", heard=None):
        self.name, self.heard = name, [] if heard is None else heard

    def hear(self, what):
        self.heard.append(self.name + what)

    def on_run_start(self, run_start):
        self.hear(f"begin {run_start.words}")

    def on_epoch_end(self, epoch_end):
        self.hear(f"epoch {epoch_end.epoch}")

    def on_checkpoint(self, path, progress):
        self.hear("checkpoint")

    def on_interrupt(self, progress):
        self.hear("interrupted")

    def on_run_end(self, model):
        self.hear("end")
        return model


class Stopping(em.Callback):
    def on_epoch_end(self, epoch_end):
        if epoch_end.epoch == 3:
            epoch_end.stop()


@pytest.mark.parametrize("threads", [1, 3])
def test_they_are_told_in_order(threads):
    heard = []
    learn("cbow", planted(), {"epochs": 3}, threads=threads, callbacks=[Heard("a ", heard), Heard("b ", heard)])
    events = ["begin 0", "epoch 1", "epoch 2", "epoch 3", "end"]
    assert heard == [name + event for event in events for name in ("a ", "b ")]


def test_of_an_interrupt_and_of_going_on(tmp_path):
    first, second = Heard(), Heard()
    made = em.Checkpoints(tmp_path / "c")
    with interrupted_after(2), pytest.raises(em.Interrupted):
        learn("cbow", planted(), {}, checkpoints=made, callbacks=[first])
    learn("cbow", planted(), {}, checkpoints=made, callbacks=[second], resume=True)
    assert first.heard == ["begin 0", "checkpoint", "interrupted"]
    assert second.heard == ["begin 2400", "epoch 1", "epoch 2", "end"]


def test_of_progress_and_its_loss():
    told = []

    class Progressing(em.Callback):
        def on_progress(self, progress):
            told.append(progress)

    learn("skipgram", planted(), {"epochs": 30}, callbacks=[Progressing()])
    assert told[-1].words == told[-1].total == 30 * 2400
    assert told[-1].loss > 0


@pytest.mark.parametrize("trainer", ["skipgram", "fasttext", "paragraph-dbow", "sembei"])
def test_looking_at_the_model_on_the_way_changes_nothing(trainer):
    settings = {"epochs": 3, "buckets": 99} if trainer == "fasttext" else {"epochs": 3}
    settings |= {"max_n": 1, "per_length": "all"} if trainer == "sembei" else {}
    kept = []

    class Looking(em.Callback):
        def on_epoch_end(self, epoch_end):
            kept.append((epoch_end.model, arrays(epoch_end.model)))

    whole = learn(trainer, planted(), settings)
    model = learn(trainer, planted(), settings, callbacks=[Looking()])
    assert arrays(model) == arrays(whole) == kept[-1][1]
    assert kept[0][1] != kept[1][1]
    assert all(arrays(model) == before for model, before in kept), "a model that is kept must not change"
    assert [model.record["words"] for model, _ in kept] == [2400, 4800, 7200]


def test_a_callback_may_end_the_run():
    model = learn("skipgram", planted(), {"epochs": 9}, callbacks=[Stopping()])
    assert model.record["words"] == 3 * 2400
    assert len(model.record["loss_by_epoch"]) == 3


def test_what_a_callback_raises_reaches_the_caller():
    class Wrong(em.Callback):
        def on_epoch_end(self, epoch_end):
            raise RuntimeError("wrong")

    with pytest.raises(RuntimeError, match="wrong"):
        learn("skipgram", planted(), {}, callbacks=[Wrong()])


def scored(scores, seen=None):
    """A score that is what a test wants, epoch by epoch; `seen` gets the models."""
    left = iter(scores)

    def score(model):
        if seen is not None:
            seen.append(arrays(model))
        return next(left)

    return score


@pytest.mark.parametrize("patience", [1, 2])
def test_early_stopping_gives_the_best_back(patience):
    seen = []
    stopping = em.EarlyStopping(score=scored([1.0, 3.0, 2.0, 2.5, 9.0], seen), patience=patience)
    model = learn("fasttext", planted(), {"epochs": 9, "buckets": 99}, callbacks=[stopping])
    assert len(seen) == 2 + patience
    assert arrays(model) == seen[1]
    assert arrays(model) != seen[-1]
    assert model.record["early_stopping"] == {
        "scores": [1.0, 3.0, 2.0, 2.5][: 2 + patience], "best_epoch": 2, "patience": patience,
    }  # fmt: skip
    assert model.record["words"] == 2 * 2400
    assert np.isfinite(model.compose(["kitties"])).all()


def test_of_equal_scores_the_first_is_the_best_and_a_run_may_end_by_itself():
    model = learn("cbow", planted(), {}, callbacks=[em.EarlyStopping(score=scored([1.0, 1.0]))])
    assert model.record["early_stopping"]["best_epoch"] == 1


def test_early_stopping_goes_on_from_a_checkpoint(tmp_path):
    scores = {2400: 1.0, 4800: 3.0, 7200: 2.0, 9600: 2.5}

    def by_words(model):
        return scores[model.record["words"]]

    whole = learn("cbow", planted(), {"epochs": 9}, callbacks=[em.EarlyStopping(score=by_words)])
    made = em.Checkpoints(tmp_path / "c")

    class Interrupting(em.Callback):
        def on_epoch_end(self, epoch_end):
            if epoch_end.epoch == 3:
                raise KeyboardInterrupt

    callbacks = [em.EarlyStopping(score=by_words), Interrupting()]
    with pytest.raises(em.Interrupted):
        learn("cbow", planted(), {"epochs": 9}, callbacks=callbacks, checkpoints=made)
    other = em.EarlyStopping(score=by_words, patience=3)
    with pytest.raises(CheckpointError, match=r"patience was 2, and is 3$"):
        learn("cbow", planted(), {"epochs": 9}, callbacks=[other], checkpoints=made, resume=True)
    stopping = em.EarlyStopping(score=by_words)
    model = learn("cbow", planted(), {"epochs": 9}, callbacks=[stopping], checkpoints=made, resume=True)
    assert arrays(model) == arrays(whole)
    assert model.record["early_stopping"] == whole.record["early_stopping"]


def test_a_run_that_goes_on_is_judged_by_what_it_was_judged_by(tmp_path):
    pairs = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in pairs:
        path.write_text("cat kitty 9\nthing1 thing2 3\ncat thing3 1\nthing5 kitty 2\n")
    made = em.Checkpoints(tmp_path / "c")
    how = {"text": planted(), "settings": {"epochs": 9}, "checkpoints": made}
    with interrupted_after(2), pytest.raises(em.Interrupted):
        learn("cbow", **how, callbacks=[em.EarlyStopping(similarity=pairs[0])])

    def never():
        raise AssertionError("the corpus was read")
        yield ["a"]

    given = {"min_count": 1, "dim": 8, "subsample": 0.01, "epochs": 9, "threads": 1, "seed": 3, "checkpoints": made}
    for other in ({"similarity": pairs[1]}, {"similarity": pairs}, {"score": lambda model: 1.0}):
        stopping = em.EarlyStopping(**other)
        with pytest.raises(CheckpointError, match=r"with: judged by was .*a\.txt, and is [^;]*$"):
            em.train("cbow", em.Corpus(never()), **given, callbacks=[stopping], resume=True)
    learn("cbow", **how, callbacks=[em.EarlyStopping(similarity=[str(pairs[0])])], resume=True)


def test_early_stopping_keeps_phrases_and_how_texts_are_read():
    corpus = em.Corpus(["new york is a city of the state new york"] * 200, phrases=em.PhraseList(["new york"]))
    stopping = em.EarlyStopping(score=scored([3.0, 2.0, 1.0]))
    model = em.train("paragraph-dbow", corpus, dim=4, min_count=1, epochs=9, threads=1, callbacks=[stopping])
    assert model.phrases is not None
    assert model.infer(["new york is a city"]).any()
    more = em.continue_training(model, ["new york has a harbour"] * 9, threads=1, min_count=1, epochs=1)
    assert "new_york" in more.vectors.words
    assert more.record["text"]["phrases"]["joiner"] == "_"


def test_a_second_run_is_not_judged_by_the_scores_of_the_first():
    stopping = em.EarlyStopping(score=scored([9.0, 8.0, 7.0, 1.0, 3.0, 2.0]), patience=1)
    first = learn("cbow", planted(), {"epochs": 9}, callbacks=[stopping])
    assert first.record["early_stopping"] == {"scores": [9.0, 8.0], "best_epoch": 1, "patience": 1}
    second = learn("cbow", planted(), {"epochs": 2, "dim": 5}, callbacks=[stopping])
    assert second.record["early_stopping"] == {"scores": [7.0, 1.0], "best_epoch": 1, "patience": 1}
    assert second.vectors.dim == 5


def test_early_stopping_by_sets(tmp_path):
    pairs, questions = tmp_path / "pairs.txt", tmp_path / "questions.txt"
    pairs.write_text("cat kitty 9\nthing1 thing2 3\ncat thing3 1\nthing5 kitty 2\n")
    questions.write_text(": a\nbefore1 after1 before2 after2\n")
    stopping = em.EarlyStopping(similarity=pairs, analogy=[questions], patience=1)
    model = learn("skipgram", planted(), {"epochs": 6, "subsample": 0.0}, callbacks=[stopping])
    told = model.record["early_stopping"]
    results = em.evaluate(model, similarity=pairs)[0], em.evaluate(model, analogy=questions, restrict=None)[-1]
    best = sum(result.value for result in results) / 2
    assert told["scores"][told["best_epoch"] - 1] == pytest.approx(best)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "needs similarity or analogy sets, or a score: one of these"),
        ({"similarity": "wordsim353", "score": len}, "one of these"),
        ({"similarity": "wordsim353", "patience": 0}, "patience must be at least 1"),
        ({"score": 0.5}, "score must be a function of a model, not 0.5"),
    ],
)
def test_early_stopping_that_is_asked_for_wrongly(given, told):
    with pytest.raises(SettingError, match=told):
        em.EarlyStopping(**given)


def test_a_set_without_a_known_word_cannot_judge():
    with pytest.raises(SettingError, match="cannot judge by wordsim353: a correlation needs two pairs"):
        learn("cbow", planted(), {}, callbacks=[em.EarlyStopping(similarity="wordsim353")])


def test_a_callback_that_gives_no_model_leaves_the_one_there_is():
    class Ended(em.Callback):
        def on_run_end(self, model):
            self.seen = model

    told = Ended()
    assert learn("cbow", planted(), {}, callbacks=[told]) is told.seen


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "high"])
def test_a_score_is_a_number(score):
    with pytest.raises(SettingError, match=r"must be a finite number, not (nan|inf|None|'high')"):
        learn("cbow", planted(), {}, callbacks=[em.EarlyStopping(score=lambda model: score)])


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_log_is_lines_of_json(tmp_path):
    path = tmp_path / "run.jsonl"
    model = learn("skipgram", planted(), {"epochs": 30}, callbacks=[em.RunLog(path)])
    first, *middle, last = events(path)
    assert (first["event"], first["trainer"], first["settings"]["dim"], first["seed"]) == ("begin", "skipgram", 8, 3)
    assert {line["event"] for line in middle} == {"progress"}
    assert middle[-1]["words"] == middle[-1]["total_words"] == 30 * 2400
    assert 0 < middle[-1]["loss"] < 10
    assert last["event"] == "end"
    assert last["loss_by_epoch"] == model.record["loss_by_epoch"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"]) for line in events(path))


def test_a_log_goes_on(tmp_path):
    path, made = tmp_path / "run.jsonl", em.Checkpoints(tmp_path / "c")
    with interrupted_after(2), pytest.raises(em.Interrupted):
        learn("cbow", planted(), {}, checkpoints=made, callbacks=[em.RunLog(path)])
    with path.open("a") as stream:
        stream.write('{"event": "cut sho')
    learn("cbow", planted(), {}, checkpoints=made, callbacks=[em.RunLog(path, append=True)], resume=True)
    lines = path.read_text().splitlines()
    found = [json.loads(line)["event"] for line in lines if "cut sho" not in line]
    assert found == ["begin", "progress", "checkpoint", "interrupted", "begin", "progress", "end"]
    assert len(lines) == len(found) + 1
    assert loss_points(path)[0] == "words"


def test_a_log_of_two_runs_has_the_lines_of_both(tmp_path):
    log = em.RunLog(tmp_path / "run.jsonl")
    for _ in range(2):
        learn("cbow", planted(), {}, callbacks=[log])
    assert [line["event"] for line in events(tmp_path / "run.jsonl")].count("end") == 2


def test_a_log_goes_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(events(tmp_path / "pipe")), daemon=True)
    reader.start()
    learn("skipgram", planted(), {}, callbacks=[em.RunLog(tmp_path / "pipe")])
    reader.join(60)
    assert [line["event"] for line in (lines[0], lines[-1])] == ["begin", "end"]
    assert (tmp_path / "pipe").is_fifo()


def test_a_log_that_is_there_is_not_replaced_unasked(tmp_path):
    (tmp_path / "run.jsonl").write_text("another's")
    with pytest.raises(OutputError, match=r"run\.jsonl exists; choose another name"):
        em.RunLog(tmp_path / "run.jsonl")
    learn("cbow", planted(), {}, callbacks=[em.RunLog(tmp_path / "run.jsonl", force=True)])
    assert events(tmp_path / "run.jsonl")[0]["event"] == "begin"


def test_only_a_log_is_gone_on_with(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("another's")
    for given in ({}, {"force": True}):
        with pytest.raises(OutputError, match=r"run\.jsonl is no log of a run, and is not gone on with"):
            em.RunLog(path, append=True, **given)
    assert path.read_text() == "another's"
    with pytest.raises(OutputError, match="is a folder, and a file is written"):
        em.RunLog(tmp_path, force=True)
    for wrong in (3, None, ""):
        with pytest.raises(SettingError, match="a log must have the path of a file, not "):
            em.RunLog(wrong)
    path.write_text("")
    em.RunLog(path, append=True)


def test_a_log_is_told_from_its_beginning_and_its_end(tmp_path):
    path = tmp_path / "run.jsonl"
    begin = {"event": "begin", "time": "t0", "words": 0, "trainer": "cbow", "seed": 5, "settings": {"dim": 3}}
    told = [{"event": "progress", "time": f"t{n}", "words": n, "loss": 1.5, "learning_rate": math.nan} for n in range(1, 9000)]
    path.write_text("".join(json.dumps(line) + "\n" for line in (begin, *told)) + '{"event": "progr')
    facts = summarize_log(path)
    assert facts | {"trainer": "cbow", "words": 8999, "loss": 1.5, "learning_rate": None, "last": "t8999", "seed": 5} == facts
    assert facts["state"] == "going on, or cut short"
    full = summarize_log(path, full=True)
    assert full == facts | {"runs": 1, "checkpoints": 0, "interrupts": 0}
    with path.open("a") as stream:
        stream.write("\n" + json.dumps({**begin, "seed": 6}) + "\n")
    facts = summarize_log(path)
    assert (facts["seed"], facts["words"], facts["loss"]) == (6, 0, None)
    path.write_text('{"event": "begin", "trainer": [[')
    assert summarize_log(path)["trainer"] is None
    path.write_text('{"event": "begin", "trainer": "cbow", "seed": NaN, "words": 1e999}')
    assert summarize_log(path) | {"trainer": "cbow", "seed": None, "words": None} == summarize_log(path)


def test_lines_of_others_are_no_log(tmp_path):
    (tmp_path / "f").write_text('{"event": "begin", "what": "a text of somebody else"}\n')
    assert describe(tmp_path / "f")["what"] == "text"
    with pytest.raises(OutputError, match="is no log of a run"):
        em.RunLog(tmp_path / "f", append=True)
    learn("cbow", planted(), {}, callbacks=[em.RunLog(tmp_path / "g")])
    assert describe(tmp_path / "g")["what"] == "log of a run"


def test_a_full_disk_ends_the_log_and_not_the_run(tmp_path):
    log = em.RunLog(tmp_path / "run.jsonl")

    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def close(self):
            raise OSError(28, "No space left on device")

    class Filling(em.Callback):
        def on_run_start(self, run_start):
            log.close()
            log.stream = Full()

    assert learn("cbow", planted(), {}, callbacks=[log, Filling()]).record["words"] == 4800


@pytest.mark.parametrize("name", ["loss.png", "loss.svg", "loss.pdf"])
def test_a_curve_of_a_model_and_of_a_log(tmp_path, name):
    model = learn("cbow", planted(), {}, callbacks=[em.RunLog(tmp_path / "run.jsonl")])
    model.save(tmp_path / "v")
    for source in ("v", "run.jsonl"):
        draw_loss_curve(tmp_path / source, tmp_path / name, force=source != "v")
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    assert loss_points(tmp_path / "v") == ("epochs", list(enumerate(model.record["loss_by_epoch"], 1)))


def test_of_what_was_learned_twice_a_curve_shows_the_last(tmp_path):
    lines = [("begin", 0, None), ("progress", 5, 3), ("progress", 9, 2), ("begin", 5, None), ("progress", 8, 1.5)]
    text = "\n".join(json.dumps({"event": e, "words": w, "loss": loss}) for e, w, loss in lines)
    (tmp_path / "log").write_text(text + '\n{"event": "progress", "words": 1, "lo')
    assert loss_points(tmp_path / "log") == ("words", [(5.0, 3.0), (8.0, 1.5)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "neither a saved model nor the log of a run"),
        (b"\xff\xfe{}\n[1]\n{\n" + b"[" * 9999, "neither a saved model nor the log of a run"),
        (b'{"event": "progress", "words": 1, "loss": NaN}', "knows no loss"),
        (b'{"event": "progress", "words": 1, "loss": 1' + b"0" * 400 + b"}", "knows no loss"),
        (b'{"event": "progress", "words": true, "loss": "2"}', "knows no loss"),
    ],
)
def test_what_is_no_log(tmp_path, text, told):
    (tmp_path / "log").write_bytes(text)
    with pytest.raises(FormatError, match=told):
        draw_loss_curve(tmp_path / "log", tmp_path / "loss.png")
    assert not (tmp_path / "loss.png").exists()


def test_a_picture_has_the_ending_of_one(tmp_path):
    with pytest.raises(SettingError, match=r"a picture must end in \.png, \.svg, \.pdf, not '.*loss\.txt'"):
        draw_loss_curve(tmp_path, tmp_path / "loss.txt")


@pytest.mark.parametrize("wrong", [em.Callback(), 3, None])
def test_callbacks_are_a_list(wrong):
    with pytest.raises(SettingError, match=r"callbacks must be a list of embeddings\.Callback, not "):
        em.RunOptions(callbacks=wrong)


def test_callbacks_may_come_one_by_one():
    heard = []
    learn("cbow", planted(), {}, callbacks=(Heard(name, heard) for name in "ab"))
    assert heard == [name + what for what in ("begin 0", "epoch 1", "epoch 2", "end") for name in "ab"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda: em.RunOptions(checkpoints=em.Checkpoints("c"), resume="no"), "resume must be true or false, not 'no'"),
        (lambda: em.Checkpoints(5), "checkpoints must have the path of a folder, not 5"),
        (lambda: em.Checkpoints(""), "checkpoints must have the path of a folder, not ''"),
        (lambda: em.InitFrom(np.ones((2, 3))), "init takes Vectors, a Model, or the path of either, not array"),
        (lambda: em.InitFrom(None), "init takes Vectors, a Model, or the path of either, not None"),
    ],
)
def test_a_conduct_that_is_asked_for_wrongly(given, told):
    with pytest.raises(SettingError, match=told):
        given()

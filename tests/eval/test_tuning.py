"""The search for settings: reproducible, bounded by trials or time, and interruptible."""

import dataclasses
import signal
import threading
import time
from dataclasses import dataclass

import pytest

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.tuning import Judgement, TuningError, tune
from embeddings.eval.tuning.search_space import search_space
from embeddings.settings import SearchRange, Settings, option
from embeddings.training.trainer import Trainer

optuna = pytest.importorskip("optuna", reason="optuna comes with the extra tune")
TEXT = ["the cat sat on the mat", "the dog sat on the log"] * 20


@dataclass(frozen=True, kw_only=True)
class Parabola(Trainer, Settings):
    """ "Learns" its settings, so that scores are known."""

    trainer_name = "parabola"
    x: float = option(0.0, "x.", ge=-5, le=5, search=SearchRange(-5, 5))
    n: int = option(1, "n.", ge=1, search=SearchRange(1, 1000, log=True))
    kind: str = option("a", "kind.", search=SearchRange(choices=("a", "b", "none")))
    detail: float = option(0.5, "detail.", search=SearchRange(0, 1, requires="x"))
    untouched: int = option(7, "untouched.")

    def learn(self, data):
        if self.kind == "none":
            raise SettingError("kind none learns nothing")
        assert self.untouched == 7
        return self


def judge(model):
    return Judgement(-((model.x - 2) ** 2) - abs(model.n - 30) / 100 - (model.kind == "b"), model, {"size": model.n})


def values(tuning):
    return [(trial.settings, trial.score) for trial in tuning.trials]


def test_a_search_finds_good_settings_and_repeats_itself():
    first, second, other = (tune(Parabola(), TEXT, judge, trials=40, threads=1, seed=seed) for seed in (1, 1, 2))
    assert values(first) == values(second) != values(other)
    assert len(first.trials) == 40
    assert first.trials[0].settings == {"x": 0.0, "n": 1, "kind": "a"}
    assert first.best.score == max(trial.score for trial in first.trials if trial.score is not None)
    assert first.best.score > first.trials[0].score + 2
    assert first.result == first.trainer == dataclasses.replace(Parabola(), **first.best.settings)
    assert first.best.details == {"size": first.result.n}
    failed = [trial for trial in first.trials if trial.settings["kind"] == "none"]
    assert failed
    assert all(trial.score is None and "learns nothing" in trial.reason for trial in failed)


def test_fixed_and_required_settings():
    tuning = tune(Parabola(x=0.0, n=5), TEXT, judge, trials=6, threads=1, fixed=["x", "kind"])
    assert all(set(trial.settings) == {"n"} for trial in tuning.trials)
    tuning = tune(Parabola(x=1.0), TEXT, judge, trials=3, threads=1, fixed=["x", "kind", "n"])
    assert all(set(trial.settings) == {"detail"} for trial in tuning.trials)
    with pytest.raises(SettingError, match="left to tune"):
        search_space(Parabola(), ["x", "n", "kind", "detail"])


def test_word_models_are_tuned():
    scores = iter(range(10))
    tuning = tune(
        em.SkipGram(min_count=1, epochs=1, dim=4), TEXT, lambda model: Judgement(next(scores), model), trials=3,
        threads=1, fixed=["epochs", "dim"],
    )  # fmt: skip
    assert isinstance(tuning.result, em.Model)
    assert tuning.result.settings["window"] == tuning.best.settings["window"]
    assert set(tuning.best.settings) == {"window", "subsample", "learning_rate"}


def test_time_ends_a_trial():
    def wait(model):
        time.sleep(0.3)
        return judge(model)

    tuning = tune(Parabola(), TEXT, wait, seconds=2.0, fixed=["kind"])
    assert 1 <= len(tuning.trials) <= 7
    with pytest.raises(TuningError, match="more seconds"):
        tune(em.SkipGram(min_count=1, epochs=1_000_000), TEXT, judge, seconds=0.3, fixed=["epochs"])


def test_an_interrupt_keeps_the_best():
    reports = []

    def report(trial):
        reports.append(trial)
        if len(reports) == 3:
            raise KeyboardInterrupt

    tuning = tune(Parabola(), TEXT, judge, trials=10, fixed=["kind"], report=report)
    assert tuning.is_interrupted
    assert len(tuning.trials) == 3
    assert tuning.best.score == max(trial.score for trial in tuning.trials)


def test_an_interrupt_during_training():
    main = threading.main_thread().ident
    timer = threading.Timer(1.0, lambda: signal.pthread_kill(main, signal.SIGINT))
    count = iter(range(100))

    def slow_second_trial(model):
        if next(count) == 1:
            timer.start()
            time.sleep(30)
        return Judgement(1, model)

    tuning = tune(Parabola(), TEXT, slow_second_trial, trials=5, fixed=["kind"])
    assert tuning.is_interrupted
    assert len(tuning.trials) == 1
    with pytest.raises(KeyboardInterrupt):
        tune(Parabola(), TEXT, lambda model: (_ for _ in ()).throw(KeyboardInterrupt), trials=5)


def test_errors():
    for arguments in ({}, {"trials": 1, "seconds": 1.0}):
        with pytest.raises(SettingError, match="trials or of seconds"):
            tune(Parabola(), TEXT, judge, **arguments)
    for arguments in ({"trials": 0}, {"seconds": 0.0}, {"seconds": float("nan")}):
        with pytest.raises(SettingError, match=next(iter(arguments))):
            tune(Parabola(), TEXT, judge, **arguments)
    with pytest.raises(TuningError, match=r"the first one failed.*score is nan"):
        tune(Parabola(), TEXT, lambda model: Judgement(float("nan"), model), seconds=60.0, fixed=["kind"])
    with pytest.raises(CorpusError):
        tune(Parabola(), "missing.txt", judge, trials=1)

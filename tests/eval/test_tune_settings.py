"""The search for settings: reproducible, resumable, interruptible; the test half is for the end."""

import dataclasses
import signal
import threading
import time

import pytest
from parabola import TEXT, Parabola, judge

import embeddings as em
from embeddings.errors import CorpusError, OutputError, SettingError
from embeddings.eval.evaluation import Suite
from embeddings.eval.test_sets import half_of
from embeddings.eval.tuning import Judgement, TuningError, tune
from embeddings.eval.tuning.metrics import new_metric
from embeddings.eval.tuning.study_folder import StudyFolder
from embeddings.eval.tuning.tune_settings import search_space
from embeddings.testing.trainer_contract import synonym_corpus

optuna = pytest.importorskip("optuna", reason="optuna comes with the extra tune")
SMALL = {"dim": 4, "min_count": 1, "threads": 1, "subsample": 0.01}


def without_seconds(tuning):
    return [dataclasses.replace(trial, seconds=0) for trial in tuning.trials]


def test_a_search_finds_good_settings_and_repeats_itself():
    first, second, other = (tune(Parabola(), TEXT, metric=judge, trials=40, threads=1, seed=seed) for seed in (1, 1, 2))
    assert without_seconds(first) == without_seconds(second) != without_seconds(other)
    assert len(first.trials) == 40
    assert first.trials[0].settings == {"x": 0.0, "n": 1, "kind": "a"}
    assert first.best.score == max(trial.score for trial in first.trials if trial.score is not None)
    assert first.best.score > first.trials[0].score + 2
    assert first.result == first.trainer == dataclasses.replace(Parabola(), **first.best.settings)
    assert first.best.details == {"size": first.result.n}
    failed = [trial for trial in first.trials if trial.settings["kind"] == "none"]
    assert failed
    assert all(trial.state == "failed" and "learns nothing" in trial.reason for trial in failed)


def search(pairs, trials, out=None, **options):
    vary = ["window=1..4", "learning_rate"]
    corpus, settings = synonym_corpus(), {**SMALL, "epochs": 4}
    return tune("skipgram", corpus, metric=pairs, trials=trials, vary=vary, out=out, **settings, **options)


def test_the_test_half_is_scored_once_at_the_end(pairs, monkeypatch):
    calls = []
    score = Suite.score

    def spy(suite, model, name):
        (test,) = suite.sets("similarity")
        assert {half_of(pair) for pair in test.pairs} == {test.half}
        calls.append((test.half, name))
        return score(suite, model, name)

    monkeypatch.setattr(Suite, "score", spy)
    tuning = search(pairs, 5)
    halves = [half for half, _ in calls]
    assert halves == sorted(halves)  # "dev" comes before "test"
    names = [name for half, name in calls if half == "test"]
    assert names == [f"trial {tuning.best.number}", *["defaults"] * (tuning.best.number != 1)]
    assert {one.half for one in [*tuning.test, *tuning.comparisons]} == {"test"}
    assert tuning.best.score == max(trial.score for trial in tuning.trials if trial.state == "complete")
    halved = [trial for trial in tuning.trials if trial.state == "halved"]
    assert all(set(trial.epoch_scores) <= {1, 2} and trial.score is not None for trial in halved)
    assert tuning.trials[0].state == "complete"


def test_a_resumed_search_equals_an_uninterrupted_one(pairs, tmp_path):
    whole = search(pairs, 8)
    assert {trial.state for trial in whole.trials} == {"complete", "halved"}
    seen = []

    def interrupt(trial):
        seen.append(trial)
        if len(seen) == 3:
            raise KeyboardInterrupt

    first = search(pairs, 8, tmp_path / "s", report=interrupt)
    assert first.is_interrupted
    assert not first.test
    resumed = search(pairs, 8, tmp_path / "s", resume=True)
    assert without_seconds(resumed) == without_seconds(whole)
    assert [dataclasses.replace(one, vectors="") for one in resumed.test] == [
        dataclasses.replace(one, vectors="") for one in whole.test
    ]
    again = search(pairs, 8, tmp_path / "s", resume=True)  # complete: only tested
    assert without_seconds(again) == without_seconds(whole)
    with pytest.raises(OutputError, match="exists"):
        search(pairs, 8, tmp_path / "s")
    with pytest.raises(OutputError, match="holds another search: seed was 1, and is 2"):
        search(pairs, 8, tmp_path / "s", resume=True, seed=2)


def test_a_search_is_not_resumed_with_changed_test_items(pairs, tmp_path):
    options = {"vary": ["window=1..4"], "trials": 1, "out": tmp_path / "s", **SMALL, "epochs": 1}
    tune("skipgram", synonym_corpus(), metric=pairs, **options)
    tune("skipgram", synonym_corpus(), metric=pairs, resume=True, **options)
    file = tmp_path / "pairs.txt"
    test_items = [line.split() for line in file.read_text().splitlines() if half_of(line.split()[:2]) == "test"]
    a, b, rating = test_items[0]
    file.write_text(file.read_text().replace(f"{a} {b} {rating}", f"{a} {b} {float(rating) + 1}"))
    with pytest.raises(OutputError, match="another search: test_items"):
        tune("skipgram", synonym_corpus(), metric=pairs, resume=True, **options)


def test_fingerprints_change_with_labelled_and_held_out_texts(tmp_path):
    texts = [f"__label__{'ab'[n % 2]} word{n} word{n // 2}" for n in range(40)]
    corpus = em.Corpus(texts, labels=em.corpora.LabelFormat())
    relabelled, changed = [*texts[:-1], texts[-1].replace("__b", "__a")], [*texts[:-1], texts[-1] + "x"]
    made = [
        new_metric("f1", em.TextClassification(), corpus, labels=labels).fingerprint
        for labels in (texts, list(texts), relabelled, changed)
    ]
    assert made[0] == made[1]
    assert len(set(made)) == 3
    (text := tmp_path / "held.txt").write_text("one line\n")
    first, again = (new_metric("loss", em.SkipGram(), corpus, validation=text).fingerprint for _ in range(2))
    text.write_text("two line\n")
    assert first == again != new_metric("loss", em.SkipGram(), corpus, validation=text).fingerprint
    assert new_metric("loss", em.SkipGram(), corpus, validation=0.1).fingerprint is None


def test_loss_of_held_out_text():
    lines = [f"the cat{n % 7} sat on the mat{n % 5} with dog{n % 11}" for n in range(300)]
    words = sum(map(len, map(str.split, lines)))
    read = set()
    tuning = tune(
        "cbow", lines, metric="loss", trials=3, vary=["learning_rate=0.01..0.3"], validation=0.3,
        progress=lambda progress: read.add(progress.total), **SMALL, epochs=2,
    )  # fmt: skip
    (total,) = read
    assert total < 2 * words  # what is held out is not read
    (best, *_) = tuning.test
    assert (best.measure, best.half) == ("held-out loss", "test")
    assert best.low < best.value < best.high
    assert tuning.best.score == pytest.approx(-best.value, rel=0.2)
    for vary, message in ((["window"], "window cannot be varied with the metric loss"), ([], None)):
        if message is not None:
            with pytest.raises(SettingError, match=message):
                tune("cbow", lines, metric="loss", trials=1, vary=vary, **SMALL)


def test_time_ends_a_trial():
    def wait(model):
        time.sleep(0.06)
        return judge(model)

    tuning = tune(Parabola(), TEXT, metric=wait, seconds=0.4, fixed=["kind"])
    assert 1 <= len(tuning.trials) <= 7
    with pytest.raises(TuningError, match="more seconds"):
        tune(em.SkipGram(min_count=1, epochs=1_000_000), TEXT, metric=judge, seconds=0.3, halving=False, vary=["dim"])


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="the system cannot signal a thread")
def test_an_interrupt_during_training():
    main = threading.main_thread().ident
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT))
    count = iter(range(100))

    def slow_second_trial(model):
        if next(count) == 1:
            timer.start()
            time.sleep(30)
        return Judgement(1, model)

    tuning = tune(Parabola(), TEXT, metric=slow_second_trial, trials=5, fixed=["kind"])
    assert tuning.is_interrupted
    assert len(tuning.trials) == 1
    with pytest.raises(KeyboardInterrupt):
        tune(Parabola(), TEXT, metric=lambda model: (_ for _ in ()).throw(KeyboardInterrupt), trials=5)


def test_a_search_without_a_result_leaves_no_folder(tmp_path):
    def unable(model):
        raise CorpusError("nothing to score")

    (tmp_path / "empty").mkdir()
    for metric in (unable, lambda model: float("nan"), lambda model: (_ for _ in ()).throw(KeyboardInterrupt)):
        for name in ("new", "empty"):
            with pytest.raises((TuningError, KeyboardInterrupt)):
                tune(Parabola(), TEXT, metric=metric, trials=1, out=tmp_path / name, force=name == "empty")
        assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    StudyFolder.create(tmp_path / "earlier", {}, resume=False, force=False)
    resumed = StudyFolder.create(tmp_path / "earlier", {}, resume=True, force=False)
    with pytest.raises(TuningError), resumed.removed_without_result():
        raise TuningError
    assert (tmp_path / "earlier" / "study.json").exists()


def test_what_is_varied():
    tuning = tune(Parabola(x=0.0, n=5), TEXT, metric=judge, trials=6, threads=1, fixed=["x", "kind"])
    assert all(set(trial.settings) == {"n"} for trial in tuning.trials)
    tuning = tune(Parabola(x=1.0), TEXT, metric=judge, trials=9, threads=1, vary=["n=5..9", "kind=a,b", "detail"])
    assert tuning.trials[0].settings == {"n": 1, "kind": "a", "detail": 0.5}  # the given ones, though out of range
    assert all(5 <= trial.settings["n"] <= 9 and trial.settings["kind"] in "ab" for trial in tuning.trials[1:])
    skipgram = em.SkipGram()
    assert search_space(skipgram, ["schedule=linear,cosine"])["schedule"].choices == ("linear", "cosine")
    assert search_space(skipgram, ["shrink-window=true,false"])["shrink_window"].choices == (True, False)
    assert search_space(skipgram, ["learning_rate=0.01..0.1"])["learning_rate"].log


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("windows", "has no setting 'windows'"),
        ("negatives", "negatives declares no range"),
        ("window=9..3", "the range of window is empty"),
        ("window=0..3", "window must be"),
        ("window=a..b", "window must be an integer"),
        ("schedule=linear..cosine", "range of schedule.*numbers"),
        ("schedule=linear,round", "schedule must be one of"),
    ],
)
def test_ranges_are_checked(vary, message):
    with pytest.raises(SettingError, match=message):
        search_space(em.SkipGram(), [vary])
    with pytest.raises(SettingError, match="left to tune"):
        search_space(Parabola(), [], ["x", "n", "kind", "detail"])

"""The folder of a search for settings."""

import pytest
from parabola import TEXT, Parabola, judge

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.eval.tuning import TuningError, tune
from embeddings.eval.tuning.study_folder import StudyFolder, Trial

optuna = pytest.importorskip("optuna", reason="optuna comes with the extra tune")


def test_trials_are_not_written_through_a_link(tmp_path):
    folder, _ = StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    (tmp_path / "s" / "trials.jsonl").symlink_to(tmp_path / "mine")
    for is_dangling in (True, False):
        with pytest.raises(FormatError, match=r"trials\.jsonl is a link that leads out"):
            StudyFolder.create(tmp_path / "s", {}, resume=True, force=False)
        with pytest.raises(FormatError, match=r"trials\.jsonl is a link that leads out"):
            folder.add(Trial(1, {}, "complete", 0.5, 1.0))
        assert (tmp_path / "mine").exists() != is_dangling
        (tmp_path / "mine").write_text("")
    assert (tmp_path / "mine").read_text() == ""


def test_errors(pairs, tmp_path):
    for arguments in ({}, {"trials": 1, "seconds": 1.0}):
        with pytest.raises(SettingError, match="trials or of seconds"):
            tune(Parabola(), TEXT, metric=judge, **arguments)
    for arguments in ({"trials": 0}, {"seconds": 0.0}, {"seconds": float("nan")}):
        with pytest.raises(SettingError, match=next(iter(arguments))):
            tune(Parabola(), TEXT, metric=judge, **arguments)
    with pytest.raises(TuningError, match=r"the first one failed.*score is nan"):
        tune(Parabola(), TEXT, metric=lambda model: float("nan"), seconds=60.0, fixed=["kind"])
    with pytest.raises(CorpusError):
        tune(Parabola(), "missing.txt", metric=judge, trials=1)
    metrics = {
        "f1": "skipgram cannot be scored by 'f1'", "similarity": "requires a set", "loss": "glove defines no loss",
        "similarity:missing.txt": "unknown test set", "similarity:wordsim353": "scored: no score on wordsim353",
    }  # fmt: skip
    for metric, message in metrics.items():
        trainer = "glove" if metric == "loss" else "skipgram"
        with pytest.raises(em.EmbeddingsError, match=message):
            tune(trainer, TEXT, metric=metric, trials=1, vary=["dim=4..8"], epochs=1, min_count=1, threads=1)
    with pytest.raises(SettingError, match="halving cannot be combined with varied epochs"):
        tune("skipgram", TEXT, metric=pairs, trials=1, vary=["epochs=1..9"], halving=True)
    with pytest.raises(SettingError, match="the metric f1 requires labels"):
        tune("classifier", TEXT, metric="f1", trials=1)


@pytest.mark.parametrize("content", [b"\xff\n", b'{"number": "\xe9"}\n', None])
def test_trials_that_are_not_text_are_refused(tmp_path, content):
    folder, _ = StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    trials = tmp_path / "s" / "trials.jsonl"
    trials.mkdir() if content is None else trials.write_bytes(content)
    with pytest.raises(FormatError, match=r"trials\.jsonl"):
        folder.read_trials()


def test_a_trial_that_was_cut_short_is_removed(tmp_path):
    folder, _ = StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    folder.add(Trial(1, {"name": "größe"}, "complete", 0.5, 1.0))
    trials = tmp_path / "s" / "trials.jsonl"
    whole = trials.read_bytes()
    trials.write_bytes(whole + whole[:20])
    assert [trial.settings for trial in folder.read_trials()] == [{"name": "größe"}]
    assert trials.read_bytes() == whole

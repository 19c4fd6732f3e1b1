"""The folder of a search for settings."""

import contextlib
import json

import pytest
from parabola import TEXT, Parabola, judge

import embeddings as em
from embeddings.errors import CorpusError, FormatError, OutputError, SettingError
from embeddings.eval.tuning import TuningError, tune
from embeddings.eval.tuning.study_folder import StudyFolder, Trial

optuna = pytest.importorskip("optuna", reason="optuna comes with the extra tune")


def test_trials_are_not_written_through_a_link(tmp_path):
    folder = StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    (tmp_path / "s" / "study.json").rename(tmp_path / "mine")
    content = (tmp_path / "mine").read_bytes()
    (tmp_path / "s" / "study.json").symlink_to(tmp_path / "mine")
    with contextlib.suppress(OutputError):
        folder.add(Trial(1, {}, "complete", 0.5, 1.0))
    assert (tmp_path / "mine").read_bytes() == content


@pytest.mark.parametrize("name", ["best", "defaults"])
def test_a_search_does_not_replace_a_model_with_files_of_others(tmp_path, name):
    folder = StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    folder.save(name, em.SkipGram(dim=2, min_count=1, subsample=0).train(["a b"] * 9, threads=1))
    StudyFolder.create(tmp_path / "s", {}, resume=True, force=False)
    (tmp_path / "s" / name / "notes.txt").write_text("mine")
    for resume, force in ((False, True), (True, False)):
        with pytest.raises(OutputError, match=r"notes\.txt"):
            StudyFolder.create(tmp_path / "s", {}, resume=resume, force=force)
    assert (tmp_path / "s" / name / "notes.txt").read_text() == "mine"


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
        "f1": "skipgram cannot be scored by 'f1'", "similarity": "unknown test set", "loss": "glove defines no loss",
        "similarity:missing.txt": "unknown test set", "similarity:wordsim353": "scored: no score on wordsim353",
    }  # fmt: skip
    for metric, message in metrics.items():
        trainer = "glove" if metric == "loss" else "skipgram"
        with pytest.raises(em.EmbeddingsError, match=message):
            tune(trainer, TEXT, metric=metric, trials=1, vary=["dim=4..8"], epochs=1, min_count=1, threads=1)
    with pytest.raises(SettingError, match="halving requires a trainer with epochs"):
        tune("skipgram", TEXT, metric=pairs, trials=1, vary=["epochs=1..9"], halving=True)
    with pytest.raises(SettingError, match=r"half.*labels"):
        tune("skipgram", TEXT, metric=pairs, trials=1, half="all")
    with pytest.raises(SettingError, match="the metric f1 requires labels"):
        tune("classifier", TEXT, metric="f1", trials=1)


@pytest.mark.parametrize(
    "trials", [{}, [1], [{}], [{"number": 1}], '{"number": "\xe9"}', [{"epoch_scores": {"one": 1}}]], ids=str
)
def test_broken_trials_are_refused(tmp_path, trials):
    StudyFolder.create(tmp_path / "s", {}, resume=False, force=False)
    file = tmp_path / "s" / "study.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"trials": trials}))
    with pytest.raises(FormatError, match=r"study\.json"):
        StudyFolder.create(tmp_path / "s", {}, resume=True, force=False)


def test_trials_are_read_again(tmp_path):
    folder = StudyFolder.create(tmp_path / "s", {"seed": 1}, resume=False, force=False)
    folder.add(Trial(1, {"name": "größe"}, "halved", 0.5, 1.0, epoch_scores={1: 0.25}, values={"dim": 4.5}))
    folder.add(Trial(2, {}, "failed", None, 1.0, "too large"))
    resumed = StudyFolder.create(tmp_path / "s", {"seed": 1}, resume=True, force=False)
    assert resumed.trials == folder.trials
    assert len(StudyFolder.open(tmp_path / "s").trials) == 2

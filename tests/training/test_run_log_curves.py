"""Plots of the loss of models and logs."""

import json

import pytest
from interrupted_runs import learn

import embeddings as em
from embeddings.errors import FormatError, SettingError
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.run_log import draw_loss_curve, read_curves


@pytest.mark.parametrize("name", ["loss.png", "loss.svg", "loss.pdf"])
def test_curve_of_a_model_and_of_a_log(tmp_path, name):
    model = learn("cbow", synonym_corpus(), {}, callbacks=[em.training.RunLog(tmp_path / "run.jsonl")])
    model.save(tmp_path / "v")
    for source in ("v", "run.jsonl"):
        draw_loss_curve(tmp_path / source, tmp_path / name, force=source != "v")
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    curves = read_curves(tmp_path / "v")
    assert (curves.unit, curves.loss) == ("epochs", list(enumerate(model.record["loss_by_epoch"], 1)))


def test_parts_learned_twice_are_shown_once(tmp_path):
    lines = [("begin", 0, None), ("progress", 5, 3), ("epoch", 5, 3), ("progress", 9, 2), ("epoch", 9, 2)]
    lines += [("begin", 5, None), ("progress", 8, 1.5), ("epoch", 8, 1.5)]
    values = [{"event": e, "words": w, "loss": loss, "scores": {"held_out_loss": loss}} for e, w, loss in lines]
    text = "\n".join(map(json.dumps, values))
    (tmp_path / "log").write_text(text + '\n{"event": "progress", "words": 1, "lo')
    curves = read_curves(tmp_path / "log")
    assert curves.loss == curves.scores["held_out_loss"] == [(5.0, 3.0), (8.0, 1.5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "neither a saved model nor the log of a run"),
        (b"\xff\xfe{}\n[1]\n{\n" + b"[" * 9999, "neither a saved model nor the log of a run"),
        (b'{"event": "progress", "words": 1, "loss": NaN}', "no losses"),
        (b'{"event": "progress", "words": 1, "loss": 1' + b"0" * 400 + b"}", "no losses"),
        (b'{"event": "progress", "words": true, "loss": "2"}', "no losses"),
    ],
)
def test_files_without_losses(tmp_path, text, message):
    (tmp_path / "log").write_bytes(text)
    with pytest.raises(FormatError, match=message):
        draw_loss_curve(tmp_path / "log", tmp_path / "loss.png")
    assert not (tmp_path / "loss.png").exists()


def test_extension_must_be_that_of_an_image(tmp_path):
    with pytest.raises(SettingError, match=r"\.png.*loss\.txt"):
        draw_loss_curve(tmp_path, tmp_path / "loss.txt")


def test_scores_of_a_model_and_of_its_log_have_the_same_name(tmp_path):
    stopping = em.EarlyStopping(score=lambda model: 0.5, patience=9)
    callbacks = [em.training.RunLog(tmp_path / "run.jsonl"), stopping]
    learn("cbow", synonym_corpus(), {}, callbacks=callbacks).save(tmp_path / "v")
    assert list(read_curves(tmp_path / "v").scores) == list(read_curves(tmp_path / "run.jsonl").scores) == ["score"]


def test_axes_of_several_scores_do_not_overlap(tmp_path):
    line = {"event": "epoch", "words": 1, "scores": {"recall": 0.5, "score": 0.25}}
    (tmp_path / "log").write_text(json.dumps(line))
    draw_loss_curve(tmp_path / "log", tmp_path / "loss.svg")
    text = (tmp_path / "loss.svg").read_text()
    assert "<!-- recall -->" in text
    assert "axes_2" in text
    assert "axes_3" not in text

"""Early stopping: it restores the best model, resumes from checkpoints, and refuses unsuitable scores."""

import numpy as np
import pytest
from interrupted_runs import corpus, interrupted_after, interrupted_at_check, learn, table_bytes

import embeddings as em
from embeddings.errors import SettingError
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.checkpoints import CheckpointError

PAIRS = "cat kitty 9\nthing1 thing2 3\ncat thing3 1\nthing5 kitty 2\nthing2 cat 5\nthing1 kitty 4\nthing3 thing4 6\n"


def fixed_scores(scores, tables=None):
    """A score function that returns these scores epoch by epoch; `tables` collects the models' bytes."""
    remaining = iter(scores)

    def score(model):
        if tables is not None:
            tables.append(table_bytes(model))
        return next(remaining)

    return score


@pytest.mark.parametrize("patience", [1, 2])
def test_best_model_is_restored(patience):
    tables = []
    stopping = em.EarlyStopping(score=fixed_scores([1.0, 3.0, 2.0, 3.0, 9.0], tables), patience=patience)
    model = learn("fasttext", synonym_corpus(), {"epochs": 9, "buckets": 99}, callbacks=[stopping])
    assert len(tables) == 2 + patience
    assert table_bytes(model) == tables[1]
    assert table_bytes(model) != tables[-1]
    assert model.record["early_stopping"] == {
        "scores": [1.0, 3.0, 2.0, 3.0][: 2 + patience], "best_epoch": 2, "patience": patience,
    }  # fmt: skip
    assert model.record["words"] == 2 * 2400
    assert np.isfinite(model.compose(["kitties"])).all()


def test_early_stopping_is_resumed(tmp_path):
    scores = {2400: 1.0, 4800: 3.0, 7200: 2.0, 9600: 2.5}

    def by_words(model):
        return scores[model.record["words"]]

    whole = learn("cbow", synonym_corpus(), {"epochs": 9}, callbacks=[em.EarlyStopping(score=by_words)])
    checkpoints = em.Checkpoints(tmp_path / "c")

    class Interrupt(em.Callback):
        def on_epoch_end(self, epoch_end):
            if epoch_end.epoch == 3:
                raise KeyboardInterrupt

    callbacks = [em.EarlyStopping(score=by_words), Interrupt()]
    with pytest.raises(em.training.Interrupted):
        learn("cbow", synonym_corpus(), {"epochs": 9}, callbacks=callbacks, checkpoints=checkpoints)
    other = em.EarlyStopping(score=by_words, patience=3)
    with pytest.raises(CheckpointError, match=r"patience.*2.*3"):
        learn("cbow", synonym_corpus(), {"epochs": 9}, callbacks=[other], checkpoints=checkpoints, resume=True)
    stopping = em.EarlyStopping(score=by_words)
    model = learn("cbow", synonym_corpus(), {"epochs": 9}, callbacks=[stopping], checkpoints=checkpoints, resume=True)
    assert table_bytes(model) == table_bytes(whole)
    assert model.record["early_stopping"] == whole.record["early_stopping"]


def test_resume_requires_the_same_test_sets(tmp_path):
    pairs = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in pairs:
        path.write_text(PAIRS)
    checkpoints = em.Checkpoints(tmp_path / "c")
    run = {"text": synonym_corpus(), "settings": {"epochs": 9}, "checkpoints": checkpoints}
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn("cbow", **run, callbacks=[em.EarlyStopping(similarity=pairs[0])])

    def unread_corpus():
        raise AssertionError("the corpus was read")
        yield ["a"]

    arguments = {
        "min_count": 1,
        "dim": 8,
        "subsample": 0.01,
        "epochs": 9,
        "threads": 1,
        "seed": 3,
        "checkpoints": checkpoints,
    }
    for other in ({"similarity": pairs[1]}, {"similarity": pairs}, {"score": lambda model: 1.0}):
        stopping = em.EarlyStopping(**other)
        with pytest.raises(CheckpointError, match=r"score was [^;]*a\.txt[^;]*$"):
            em.train("cbow", em.Corpus(unread_corpus()), **arguments, callbacks=[stopping], resume=True)
    learn("cbow", **run, callbacks=[em.EarlyStopping(similarity=[str(pairs[0])])], resume=True)


def test_restored_model_has_phrases_and_text_settings():
    corpus = em.Corpus(["new york is a city of the state new york"] * 200, phrases=em.corpora.PhraseList(["new york"]))
    stopping = em.EarlyStopping(score=fixed_scores([3.0, 2.0, 1.0]))
    model = em.train("paragraph-dbow", corpus, dim=4, min_count=1, epochs=9, threads=1, callbacks=[stopping])
    assert model.phrases is not None
    assert model.infer(["new york is a city"]).any()
    more = em.continue_training(model, ["new york has a harbour"] * 9, threads=1, min_count=1, epochs=1)
    assert "new_york" in more.vectors.words
    assert more.record["text"]["phrases"]["joiner"] == "_"


def test_a_second_run_does_not_use_the_scores_of_the_first():
    stopping = em.EarlyStopping(score=fixed_scores([9.0, 8.0, 7.0, 1.0, 3.0, 2.0]), patience=1)
    first = learn("cbow", synonym_corpus(), {"epochs": 9}, callbacks=[stopping])
    assert first.record["early_stopping"] == {"scores": [9.0, 8.0], "best_epoch": 1, "patience": 1}
    second = learn("cbow", synonym_corpus(), {"epochs": 2, "dim": 5}, callbacks=[stopping])
    assert second.record["early_stopping"] == {"scores": [7.0, 1.0], "best_epoch": 1, "patience": 1}
    assert second.vectors.dim == 5


def test_mean_score_of_test_sets(tmp_path):
    pairs, questions = tmp_path / "pairs.txt", tmp_path / "questions.txt"
    pairs.write_text(PAIRS)
    questions.write_text(": a\nbefore1 after1 before2 after2\nbefore1 after1 before2 after3\n")
    stopping = em.EarlyStopping(similarity=pairs, analogy=[questions], patience=1)
    model = learn("skipgram", synonym_corpus(), {"epochs": 6, "subsample": 0.0}, callbacks=[stopping])
    record = model.record["early_stopping"]
    results = (
        em.evaluate(model, similarity=pairs, half="dev")[0],
        em.evaluate(model, analogy=questions, restrict=None, half="dev")[-1],
    )
    best = sum(result.value for result in results) / 2
    assert record["scores"][record["best_epoch"] - 1] == pytest.approx(best)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"similarity or analogy.*score"),
        ({"similarity": "wordsim353", "score": len}, r"similarity or analogy.*score"),
        ({"similarity": "wordsim353", "patience": 0}, r"patience.*got 0"),
        ({"score": len, "label_format": em.corpora.LabelFormat()}, r"label_format requires labels"),
        ({"score": len, "decay_on_plateau": -1}, r"decay_on_plateau.*got -1"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(SettingError, match=message):
        em.EarlyStopping(**arguments)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_must_be_finite_numbers(score):
    with pytest.raises(SettingError, match=r"finite.*got (nan|inf)"):
        learn("cbow", synonym_corpus(), {}, callbacks=[em.EarlyStopping(score=lambda model: score)])


class Rates(em.Callback):
    """Records the learning rate at the end of each epoch, and the tables."""

    def __init__(self):
        self.rates, self.tables = [], []

    def on_epoch_end(self, epoch_end):
        self.rates.append(epoch_end.progress.learning_rate)
        self.tables.append(table_bytes(epoch_end.model))


PLATEAU = {"epochs": 12, "schedule": "constant", "learning_rate": 0.08}
PLATEAU_SCORES = {2400 * epoch: score for epoch, score in enumerate([1.0, 3.0, 2.0, 2.0, 4.0, 2.0, 2.0, 2.0], 1)}


def plateau_stopping(**more):
    return em.EarlyStopping(
        score=lambda model: PLATEAU_SCORES[model.record["words"]], patience=1, **{"decay_on_plateau": 3, **more}
    )


def test_a_plateau_decays_the_rate_and_goes_back_to_the_best_epoch():
    rates, stopping = Rates(), plateau_stopping()
    model = learn("skipgram", synonym_corpus(), PLATEAU, callbacks=[stopping, rates])
    assert model.record["early_stopping"] == {
        "scores": [1.0, 3.0, 2.0, 2.0, 4.0, 2.0, 2.0], "best_epoch": 5, "patience": 1, "decays": [3, 4, 6],
    }  # fmt: skip
    assert rates.rates == [0.08, 0.08, 0.08, 0.04, 0.02, 0.02, 0.01]
    assert table_bytes(model) == rates.tables[4]


def test_training_continues_from_the_tables_of_the_best_epoch(monkeypatch):
    monkeypatch.setattr("embeddings.training.progress.Tally.learning_rate", lambda self, thread=None: 0.0)
    rates = Rates()
    learn("fasttext", synonym_corpus(), {**PLATEAU, "buckets": 50}, callbacks=[plateau_stopping(), rates])
    assert len({str(tables) for tables in rates.tables}) == 1  # nothing is learned
    monkeypatch.undo()
    monkeypatch.setattr("embeddings.eval.early_stopping.DECAY", 1e-9)
    rates = Rates()
    learn("fasttext", synonym_corpus(), {**PLATEAU, "buckets": 50}, callbacks=[plateau_stopping(), rates])
    vectors = [np.frombuffer(tables["vectors"], np.float32) for tables in rates.tables]
    np.testing.assert_allclose(vectors[3], vectors[1], atol=1e-6)
    assert np.abs(vectors[2] - vectors[1]).max() > 1e-3


def epochs_of(model):
    return len(model.record["loss_by_epoch"])


@pytest.mark.parametrize("checks", [1, 5, 8, 14, 20, 26])
def test_a_run_with_plateaus_is_resumed(checks, tmp_path):
    """All epochs and the average are the same, wherever the run halted."""
    scores, settings = [1.0, 3.0, 2.0, 2.0, 4.0, 2.0], {**PLATEAU, "epochs": 6, "average_last": 0.3}

    def stopping(tables):
        def score(model):
            epoch = "average" if "average" in model.record else epochs_of(model)
            tables[epoch] = table_bytes(model)
            return 0.0 if epoch == "average" else scores[epoch - 1]

        return em.EarlyStopping(score=score, patience=1, decay_on_plateau=9)

    expected, tables, text = {}, {}, corpus("cbow")
    learn("cbow", text, settings, callbacks=[stopping(expected)])
    checkpoints = em.Checkpoints(tmp_path / "c")
    run = {"settings": settings, "text": text, "checkpoints": checkpoints}
    with interrupted_at_check(checks), pytest.raises(em.training.Interrupted):
        learn("cbow", **run, callbacks=[stopping(tables)])
    with interrupted_at_check(3), pytest.raises(em.training.Interrupted):
        learn("cbow", **run, callbacks=[stopping(tables)], resume=True)
    model = learn("cbow", **run, callbacks=[stopping(tables)], resume=True)
    assert tables == expected
    assert list(expected) == [1, 2, 3, 4, 5, 6, "average"]
    assert model.record["early_stopping"]["decays"] == [3, 4, 6]


def test_a_checkpoint_at_the_end_of_an_epoch_holds_the_rollback(tmp_path):
    """One is written at the end of each epoch, before training goes back."""
    checkpoints = em.Checkpoints(tmp_path / "c", every="1w", keep=99)
    run = {"settings": {**PLATEAU, "epochs": 4}, "text": synonym_corpus(), "checkpoints": checkpoints}
    rates = Rates()
    learn("skipgram", **run, callbacks=[plateau_stopping(decay_on_plateau=9), rates])
    *_, second_last, last = checkpoints.paths()
    assert second_last.name != last.name == f"words-{3 * 2400:015d}"
    resumed = Rates()
    learn("skipgram", **run, callbacks=[plateau_stopping(decay_on_plateau=9), resumed], resume=True)
    assert resumed.tables == rates.tables[3:]
    assert resumed.rates == rates.rates[3:]


def test_an_average_starts_again_when_training_goes_back():
    """The last rollback is after epoch 3 of 4, so the average has a quarter of the points."""
    stopping = em.EarlyStopping(
        score=lambda model: 9.0 if "average" in model.record else {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0}[epochs_of(model)],
        patience=1,
        decay_on_plateau=2,
    )
    settings = {**PLATEAU, "epochs": 4, "average_last": 1.0}
    model = learn("cbow", corpus("cbow"), settings, callbacks=[stopping])
    assert model.record["early_stopping"]["decays"] == [2, 3]
    assert model.record["average"]["points"] == 5


def test_after_a_decay_the_patience_starts_again():
    scores = [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    stopping = em.EarlyStopping(score=fixed_scores(scores), patience=2, decay_on_plateau=2)
    model = learn("cbow", synonym_corpus(), PLATEAU, callbacks=[stopping])
    assert model.record["early_stopping"]["decays"] == [3, 5]
    assert model.record["early_stopping"]["scores"] == scores

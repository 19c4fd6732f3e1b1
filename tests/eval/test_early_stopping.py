"""Early stopping: it restores the best model, resumes from checkpoints, and refuses unsuitable scores."""

import numpy as np
import pytest
from interrupted_runs import interrupted_after, learn, table_bytes

import embeddings as em
from embeddings.errors import SettingError
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.checkpoints import CheckpointError


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
    stopping = em.EarlyStopping(score=fixed_scores([1.0, 3.0, 2.0, 2.5, 9.0], tables), patience=patience)
    model = learn("fasttext", synonym_corpus(), {"epochs": 9, "buckets": 99}, callbacks=[stopping])
    assert len(tables) == 2 + patience
    assert table_bytes(model) == tables[1]
    assert table_bytes(model) != tables[-1]
    assert model.record["early_stopping"] == {
        "scores": [1.0, 3.0, 2.0, 2.5][: 2 + patience], "best_epoch": 2, "patience": patience,
    }  # fmt: skip
    assert model.record["words"] == 2 * 2400
    assert np.isfinite(model.compose(["kitties"])).all()


def test_first_of_equal_scores_is_the_best():
    model = learn("cbow", synonym_corpus(), {}, callbacks=[em.EarlyStopping(score=fixed_scores([1.0, 1.0]))])
    assert model.record["early_stopping"]["best_epoch"] == 1


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
    with pytest.raises(em.Interrupted):
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
        path.write_text("cat kitty 9\nthing1 thing2 3\ncat thing3 1\nthing5 kitty 2\n")
    checkpoints = em.Checkpoints(tmp_path / "c")
    run = {"text": synonym_corpus(), "settings": {"epochs": 9}, "checkpoints": checkpoints}
    with interrupted_after(2), pytest.raises(em.Interrupted):
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
    corpus = em.Corpus(["new york is a city of the state new york"] * 200, phrases=em.PhraseList(["new york"]))
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
    pairs.write_text("cat kitty 9\nthing1 thing2 3\ncat thing3 1\nthing5 kitty 2\n")
    questions.write_text(": a\nbefore1 after1 before2 after2\n")
    stopping = em.EarlyStopping(similarity=pairs, analogy=[questions], patience=1)
    model = learn("skipgram", synonym_corpus(), {"epochs": 6, "subsample": 0.0}, callbacks=[stopping])
    record = model.record["early_stopping"]
    results = em.evaluate(model, similarity=pairs)[0], em.evaluate(model, analogy=questions, restrict=None)[-1]
    best = sum(result.value for result in results) / 2
    assert record["scores"][record["best_epoch"] - 1] == pytest.approx(best)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"similarity or analogy.*score"),
        ({"similarity": "wordsim353", "score": len}, r"similarity or analogy.*score"),
        ({"similarity": "wordsim353", "patience": 0}, r"patience.*got 0"),
        ({"score": 0.5}, r"score.*got 0\.5"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(SettingError, match=message):
        em.EarlyStopping(**arguments)


def test_a_set_without_known_words_is_refused():
    with pytest.raises(SettingError, match="wordsim353"):
        learn("cbow", synonym_corpus(), {}, callbacks=[em.EarlyStopping(similarity="wordsim353")])


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "high"])
def test_scores_must_be_finite_numbers(score):
    with pytest.raises(SettingError, match=r"finite.*got (nan|inf|None|'high')"):
        learn("cbow", synonym_corpus(), {}, callbacks=[em.EarlyStopping(score=lambda model: score)])

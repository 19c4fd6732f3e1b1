"""Settings of objectives: those that an objective does not use are refused, as are models that it does not fit."""

import pytest

import embeddings as em
from embeddings.errors import SettingError

TEXT = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "hierarchical-softmax", "negatives": 6}, "negatives=6 has no effect.*hierarchical-softmax"),
        (
            {"objective": "full-softmax", "negative_sharing": "none"},
            "negative_sharing=none has no effect with",
        ),
        ({"objective": "adaptive-softmax", "noise_exponent": 1.0}, "noise_exponent"),
        ({"nce_normalizer": "trained"}, "nce_normalizer=trained.*negative-sampling: it requires nce"),
        ({"objective": "nce", "target_in_sample": False}, "target_in_sample=False"),
        ({"proposals": "log-uniform"}, "proposals"),
        ({"objective": "full-softmax", "cutoffs": "5"}, "cutoffs=5"),
        ({"objective": "sampled-softmax", "proposals": "log-uniform", "noise_exponent": 1.0}, "noise_exponent=1.0"),
        ({"objective": "softmax"}, "objective must be one of"),
        *[
            ({"objective": "adaptive-softmax", "cutoffs": cutoffs}, "cutoffs must be up to 8 increasing integers")
            for cutoffs in ("", "a", "0,3", "3,3", "5,3", "-1", "1,", "1.5", "9" * 5000, "1,2,3,4,5,6,7,8,9")
        ],
    ],
    ids=str,
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        em.SkipGram(**settings)


def test_defaults_of_a_trainer_are_no_settings():
    assert em.ParagraphDBOW(objective="full-softmax").negative_sharing == "window"
    assert em.FastText(objective="full-softmax").negatives == 5


@pytest.mark.parametrize(
    "settings", [{"objective": "hierarchical-softmax"}, {"objective": "adaptive-softmax"}], ids=str
)
def test_document_models_without_output_rows_require_word_vectors(settings):
    with pytest.raises(SettingError, match=r"has no output vector for each word.*set train_words"):
        em.ParagraphDBOW(**settings)
    assert em.ParagraphDBOW(**settings, train_words=True).train_words


@pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])
def test_tied_tables_require_output_rows(trainer):
    for settings in ({"objective": "hierarchical-softmax"}, {"objective": "adaptive-softmax"}):
        with pytest.raises(SettingError, match="no output vector for each word, but tie=True"):
            trainer(tie=True, **settings)
    model = trainer(tie=True, min_count=1, dim=4, epochs=1, objective="nce").train(TEXT, threads=1)
    assert "output" not in model.tables


def test_cutoffs_must_be_in_the_vocabulary():
    em.SkipGram(objective="adaptive-softmax", cutoffs="1,2,3,4,5,6,7,8")
    with pytest.raises(SettingError, match="cutoffs must be less than the vocabulary size, 9, got 4,9"):
        em.train("skipgram", TEXT, objective="adaptive-softmax", cutoffs="4,9", min_count=1)


def test_a_sample_without_the_target_is_warned_about(caplog):
    em.train("skipgram", TEXT, objective="sampled-softmax", target_in_sample=False, min_count=1, dim=4, epochs=1)
    assert any("no lower bound" in record.message for record in caplog.records)


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        ({"objective": "nce"}, False),
        ({"objective": "full-softmax"}, False),
        ({"objective": "hierarchical-softmax"}, True),
        ({"objective": "adaptive-softmax", "cutoffs": "3"}, True),
    ],
    ids=str,
)
def test_models_whose_tables_depend_on_counts_are_not_continued(settings, is_refused):
    model = em.train("skipgram", TEXT, min_count=1, dim=4, epochs=1, threads=1, **settings)
    if is_refused:
        with pytest.raises(SettingError, match="cannot be trained further"):
            em.continue_training(model, TEXT, epochs=1)
    else:
        continued = em.continue_training(model, [*TEXT, "some new words " * 9], epochs=1, threads=1)
        assert len(continued.vectors) > len(model.vectors)
        assert all(len(table) == len(continued.vectors) for table in continued.tables.values())


def test_the_objective_of_a_model_does_not_change():
    model = em.train("skipgram", TEXT, min_count=1, dim=4, epochs=1, threads=1)
    with pytest.raises(SettingError, match="objective must be negative-sampling, as in the model, got nce"):
        em.continue_training(model, TEXT, objective="nce")

"""Replicates of a model: trainings, files and interrupts."""

import json

import numpy as np
import pytest

import embeddings as em
from embeddings.analysis import stability_runs as runs_module
from embeddings.analysis.stability_runs import StabilityRuns
from embeddings.corpora.corpus_cache import new_folder
from embeddings.corpora.resampling import resample
from embeddings.training.training_data import prepare


def test_each_replicate_is_a_training_of_its_own(model, corpus, replicates):
    trainer = em.SkipGram(**model.settings)
    for number, rows in enumerate(replicates.seeds, start=4):
        again = trainer.train(corpus, threads=1, seed=5 + number).vectors
        assert np.abs(rows - again.unit_rows).max() < 1e-3  # float16
    encoded = corpus.encode()
    for number, rows in enumerate(replicates.resamples):
        with new_folder(None) as folder:
            drawn = resample(encoded, "documents", np.random.default_rng([5, number]), folder)
        again = trainer.learn(prepare(trainer, drawn, threads=1, seed=5 + number)).vectors
        assert np.abs(rows - again.unit_rows).max() < 1e-3
    assert len({rows.tobytes() for rows in replicates.resamples + replicates.seeds}) == 7


def test_a_word_without_a_vector_in_a_resample_has_zeros(model):
    learned, words = (
        em.Vectors(["king", "land"], [[3.0, 4.0], [1, 0]]),
        em.Vectors(["queen", "king", "land"], np.eye(3)),
    )
    rows = runs_module.unit_rows(learned, words, em.Corpus(["king"]).encode())
    assert rows.tolist() == [[0, 0], [np.float16(0.6), np.float16(0.8)], [0, 0]]


def test_round_trip_and_damage(replicates, model, tmp_path):
    replicates.save(tmp_path / "r")
    loaded = StabilityRuns.load(tmp_path / "r")
    assert all(map(np.array_equal, loaded.resamples + loaded.seeds, replicates.resamples + replicates.seeds))
    assert (loaded.vectors, loaded.unit, loaded.seed) == (replicates.vectors, "documents", 5)
    with pytest.raises(em.EmbeddingsError, match="exists"):
        replicates.save(tmp_path / "r")
    replicates.save(tmp_path / "r", force=True)
    path = tmp_path / "r" / "replicates.json"
    content = json.loads(path.read_text())
    for change in ({"resamples": 3}, {"seeds": 10**9}, {"resamples": 1}, {"unit": 3}, {"format_version": 9}):
        path.write_text(json.dumps(content | change))
        with pytest.raises(em.EmbeddingsError, match="r"):
            StabilityRuns.load(tmp_path / "r")
    with pytest.raises(em.EmbeddingsError, match="stability"):
        StabilityRuns.load(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine")
    with pytest.raises(em.EmbeddingsError, match="not replaced"):
        replicates.save(tmp_path / "other", force=True)


def test_an_interrupt_keeps_finished_trainings(model, corpus):
    def interrupt_at(number):
        def report(done, total):
            if done == number:
                raise KeyboardInterrupt

        return report

    result = em.analysis.stability(model, corpus, resamples=4, seeds=3, threads=1, progress=interrupt_at(3))
    assert (len(result.resamples), len(result.seeds), result.is_interrupted) == (3, 0, True)
    result = em.analysis.stability(model, corpus, resamples=2, seeds=3, threads=1, progress=interrupt_at(3))
    assert (len(result.resamples), len(result.seeds)) == (2, 0)  # one seed has no spread
    with pytest.raises(KeyboardInterrupt):
        em.analysis.stability(model, corpus, resamples=4, progress=interrupt_at(1))

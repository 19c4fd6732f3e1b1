"""What every format keeps: the words, the vectors and, if it stores them, counts and how texts are pooled."""

import numpy as np
import pytest
from format_options import LIBRARIES
from optional_libraries import needs

import embeddings as em
from embeddings.vectors import file_format

NAMES = [
    pytest.param(name, marks=needs(*LIBRARIES.get(name, ())))
    for name in file_format.names()
    if file_format.load_format(name).read.__module__.startswith("embeddings.")
]


@pytest.mark.parametrize("form", NAMES)
def test_texts_are_pooled_as_by_the_model_or_a_warning_says_so(tmp_path, caplog, form):
    """Of a model of texts, which are plain means whatever the counts are."""
    vectors = em.Vectors(["the", "king", "queen"], np.eye(3), counts=[900, 9, 5])
    vectors.text_pool = "mean"
    texts = ["the king", "the the queen"]
    for options in ({}, {"counts": False}):
        caplog.clear()
        vectors.save(tmp_path / "v.npy", form, force=True, **options)
        rows = em.embed(em.load(tmp_path / "v.npy", allow_pickle=True), texts)
        is_stored = file_format.load_format(form).stores_pooling
        assert is_stored != ("mean" in caplog.text)
        if is_stored:
            np.testing.assert_allclose(rows, em.embed(vectors, texts))

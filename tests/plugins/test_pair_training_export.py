"""Text vectors of exported models that learned from pairs, in the libraries that load them."""

import json

import numpy as np
import pytest
from optional_libraries import needs

import embeddings as em

PAIRS = [(f"w{n} w{n + 1} the", f"w{n + 1} w{n + 2} a") for n in range(40)]
TEXTS = ["w1 W2, the", "w5 nobody", "w7 w8 w9 a"]
SETTINGS = {"dim": 8, "epochs": 2, "batch_size": 8, "threads": 1}
CODE = {
    "sentence-transformers": """
        from sentence_transformers import SentenceTransformer
        encode = SentenceTransformer(path, device="cpu").encode
    """,
    "model2vec": """
        from model2vec import StaticModel
        encode = StaticModel.from_pretrained(path).encode
    """,
}
LIBRARIES = {"sentence-transformers": "sentence_transformers", "model2vec": "model2vec"}


@pytest.fixture(scope="module", params=[{}, {"token_weights": "sif"}], ids=["rows", "weights"])
def model(request):
    return em.train("text-pairs", em.corpora.TextPairs(PAIRS), **SETTINGS, **request.param)


def test_read_folders_give_the_same_vectors(model, tmp_path):
    pytest.importorskip("tokenizers")
    model.vectors.save(tmp_path / "v", "model2vec", normalize=True)
    expected = em.embed(model, TEXTS, normalize=True)  # as the folder says
    np.testing.assert_allclose(em.embed(em.load(tmp_path / "v"), TEXTS), expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", [pytest.param(form, marks=needs(library)) for form, library in LIBRARIES.items()])
def test_libraries_give_the_same_vectors(model, form, tmp_path, python):
    model.vectors.save(tmp_path / "v", form, normalize=True)
    lines = [line.strip() for line in CODE[form].strip().splitlines()]
    code = "\n".join(
        ["import json, sys", "path, *texts = sys.argv[1:]", *lines, "print(json.dumps(encode(texts).tolist()))"]
    )
    offline = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    rows = json.loads(python("-c", code, tmp_path / "v", *TEXTS, **offline).stdout.splitlines()[-1])
    np.testing.assert_allclose(rows, em.embed(model, TEXTS, normalize=True), atol=1e-6)

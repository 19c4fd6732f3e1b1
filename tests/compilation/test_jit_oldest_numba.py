"""Training with another version of numba, such as the oldest, by the Python that EMBEDDINGS_OTHER_PYTHON names.

python -m venv old && old/bin/pip install 'numba==0.61.*' numpy pyarrow click
EMBEDDINGS_OTHER_PYTHON=old/bin/python pytest -m slow tests/compilation/test_jit_oldest_numba.py
"""

import json
import os
import subprocess

import numpy as np
import pytest

import embeddings as em

OTHER = os.environ.get("EMBEDDINGS_OTHER_PYTHON")
CODE = """
import json, sys
import numba
import embeddings as em
from embeddings.plugins.cbow import CBOW
from embeddings.plugins.skipgram import SkipGram

lines = json.loads(sys.argv[1])
trainers = [trainer(dim=20, min_count=1, epochs=3) for trainer in (SkipGram, CBOW)]
models = [trainer.train(em.Corpus(lines), threads=1) for trainer in trainers]
print(json.dumps([numba.__version__, [model.record["loss_by_epoch"] for model in models]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(OTHER is None, reason="EMBEDDINGS_OTHER_PYTHON is not set")
def test_training_gives_the_same_losses(root, tmp_path):
    lines = [" ".join(f"w{(i * j) % 97}" for j in range(20)) for i in range(1, 300)]
    expected = [
        em.train(name, em.Corpus(lines), dim=20, min_count=1, epochs=3, threads=1).record["loss_by_epoch"]
        for name in ("skipgram", "cbow")
    ]
    result = subprocess.run(
        [OTHER, "-c", CODE, json.dumps(lines)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root), "EMBEDDINGS_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    version, losses = json.loads(result.stdout)
    assert version
    assert np.array(losses) == pytest.approx(np.array(expected), rel=1e-4)

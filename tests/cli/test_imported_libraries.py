"""Which libraries each command imports: no command waits for the import of one that it does not use."""

import json

import numpy as np
import pytest

import embeddings as em

COMPILER = {"numba", "llvmlite"}
LIBRARIES = COMPILER | {
    "numpy", "pyarrow", "scipy", "pandas", "sklearn", "gensim", "faiss", "matplotlib", "polars", "spacy", "tokenizers",
    "torch", "transformers", "datasets", "huggingface_hub", "requests", "IPython", "tqdm", "safetensors", "asyncio",
}  # fmt: skip
# numba imports scipy where it is installed
RUN = """
import atexit, json, os, sys
names = sys.argv[1].split(",")
atexit.register(lambda: print(json.dumps([name for name in names if name in sys.modules]), file=sys.stderr, flush=True))
sys.argv[1:] = sys.argv[2:]
import embeddings.__main__
embeddings.__main__.main()
"""
TEXT = "the cat sat on the mat\n" * 50
COMMANDS = {
    "--help": set(),
    "--version": set(),
    "info model": {"numpy", "pyarrow", "safetensors"},
    "info vectors.txt": {"numpy", "pyarrow"},
    "cache": {"numpy"},
    "export model copy.txt": {"numpy", "pyarrow", "safetensors"},
    "analogy model the cat sat": {"numpy", "pyarrow", "safetensors", *COMPILER, "scipy"},
    "neighbours model cat": {"numpy", "pyarrow", "safetensors", *COMPILER, "scipy"},
    "vocabulary text.txt -o words.txt": {"numpy", "pyarrow", *COMPILER, "scipy"},
    "train skipgram text.txt -o new --min-count 1 --epochs 1": {
        "numpy", "pyarrow", "safetensors", *COMPILER, "scipy",
    },
    "evaluate model": {"numpy", "pyarrow", "safetensors", *COMPILER, "scipy"},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text, a model and vectors."""
    path = tmp_path_factory.mktemp("libraries")
    (path / "text.txt").write_text(TEXT)
    em.train("skipgram", em.Corpus(path / "text.txt"), dim=4, min_count=1, epochs=1, threads=1).save(path / "model")
    em.Vectors(["a", "b"], np.eye(2, dtype=np.float32)).save(path / "vectors.txt")
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_only_these_libraries(command, folder, python):
    result = python("-c", RUN, ",".join(sorted(LIBRARIES)), *command.split(), cwd=folder)
    assert set(json.loads(result.stderr.splitlines()[-1])) <= COMMANDS[command]


def test_the_package_imports_no_library(python):
    code = f"import sys, embeddings; print([name for name in {sorted(LIBRARIES)} if name in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"

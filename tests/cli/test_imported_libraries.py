"""Which libraries each command imports: no command waits for the import of one that it does not use."""

import json
from itertools import pairwise

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
import json, sys
names, *commands = map(json.loads, sys.argv[1:])
import embeddings.__main__
embeddings.__main__.finish = lambda code: None  # which would end the process
for command in commands:
    sys.argv[1:] = command.split()
    embeddings.__main__.main()
    found = [name for name in names if name in sys.modules]
    print(json.dumps([command, found]), file=sys.stderr, flush=True)
"""
TEXT = "the cat sat on the mat\n" * 50
COMMANDS = {  # in each group, every command may import what those before it may
    "--help": set(),
    "--version": set(),
    "cache": {"numpy"},
    "info text.txt": {"numpy", "pyarrow"},
    "info vectors.txt": {"numpy", "pyarrow"},
    "info model": {"numpy", "pyarrow"},
    "export model copy.txt": {"numpy", "pyarrow"},
    "export model copy.parquet": {"numpy", "pyarrow"},
    "analogy model the cat sat": {"numpy", "pyarrow", *COMPILER, "scipy"},
    "neighbours model cat": {"numpy", "pyarrow", *COMPILER, "scipy"},
    "train skipgram text.txt -o new --min-count 1 --epochs 1": {
        "numpy", "pyarrow", *COMPILER, "scipy",
    },
    "train paragraph-dbow texts.csv --tag-column id -o documents --min-count 1 --epochs 1": {
        "numpy", "pyarrow", *COMPILER, "scipy",
    },
    "evaluate model": {"numpy", "pyarrow", *COMPILER, "scipy"},
}  # fmt: skip
VOCABULARY = {"vocabulary text.txt -o words.txt": {"numpy", "pyarrow", *COMPILER, "scipy"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text, a model and vectors."""
    path = tmp_path_factory.mktemp("libraries")
    (path / "text.txt").write_text(TEXT)
    (path / "texts.csv").write_text("id,text\nfirst,the cat sat\nsecond,the dog sat\n")
    em.train("skipgram", em.Corpus(path / "text.txt"), dim=4, min_count=1, epochs=1, threads=1).save(path / "model")
    em.Vectors(["a", "b"], np.eye(2, dtype=np.float32)).save(path / "vectors.txt")
    return path


@pytest.mark.parametrize("commands", [COMMANDS, VOCABULARY], ids=["most", "vocabulary"])
def test_a_command_imports_only_these_libraries(commands, folder, python):
    """One process runs a group of commands, so that the libraries are imported once."""
    expected = list(commands.values())
    assert all(few <= more for few, more in pairwise(expected))
    result = python("-c", RUN, json.dumps(sorted(LIBRARIES)), *map(json.dumps, commands), cwd=folder)
    reports = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("[")]
    assert [command for command, _ in reports] == list(commands)
    assert {command: set(names) - commands[command] for command, names in reports} == {name: set() for name in commands}


ROOMS = """
import sys
import embeddings.__main__
embeddings.__main__.finish = lambda code: None
for command in sys.argv[1:]:
    sys.argv[1:] = command.split()
    embeddings.__main__.main()
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("embeddings.")}
print(sorted(rooms & {"training", "objectives", "plugins", "formats", "eval", "analysis"}), file=sys.stderr)
"""


def test_a_saved_model_is_used_without_training_code_and_formats(folder, python):
    em.train("classifier", ["__label__a the cat", "__label__b a dog"], dim=4, epochs=1, threads=1).save(
        folder / "labels", force=True
    )
    commands = "predict labels texts.csv", "neighbours model cat"
    assert python("-c", ROOMS, *commands, cwd=folder).stderr.splitlines()[-1] == "[]"


def test_the_package_imports_no_library(python):
    code = f"import sys, embeddings; print([name for name in {sorted(LIBRARIES)} if name in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_the_options_of_training_import_no_evaluation(python):
    code = """
import sys
from embeddings.cli.train import trainer_command
from embeddings.plugins.skipgram import SkipGram
trainer_command("skipgram", SkipGram)
print(sorted(name for name in sys.modules if name.startswith("embeddings.eval.")))
"""
    assert python("-c", code).stdout.strip() == "['embeddings.eval.early_stopping']"

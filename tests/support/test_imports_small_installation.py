"""Training, search, export, vectors of texts and predicted labels with numpy, numba, pyarrow and click only."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, files
from pathlib import Path

import pytest

import embeddings
from embeddings.support.imports import LIBRARIES

ROOT = Path(__file__).parents[2]
SMALL = ("numpy", "numba", "llvmlite", "pyarrow", "click", "embeddings-toolkit")
TEXT = "the king rules the land\nthe queen rules the land\n" * 20
LABELLED = "__label__a the cat sat\n__label__b a dog ran\n" * 20
RUN = "import sys; sys.path.append(sys.argv.pop(1)); from embeddings.__main__ import main; main()"
RUN_ALL = """
import sys
sys.path.append(sys.argv[1])
from embeddings.cli import main
for command in sys.argv[2:]:
    try:
        main(command.split())
    except SystemExit as end:
        print("ended:", end.code, command)
"""
SCRIPT = """
import sys
sys.path.append(sys.argv.pop(1))
import embeddings as em
model = em.load_model("model")
{}
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"scipy", "sklearn", "safetensors", "tqdm"}}))
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A folder for Python's path that has these packages only."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in SMALL:
        for top in {file.parts[0] for file in files(name) if ".." not in file.parts}:
            if not top.startswith("__"):
                (folder / top).symlink_to(distribution(name).locate_file(top))
    if not (folder / "embeddings").exists():  # an installation that imports the folder of the source
        (folder / "embeddings").symlink_to(Path(embeddings.__file__).parent)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory, libraries):
    """A folder with texts, in which commands have trained a model and a classifier."""
    path = tmp_path_factory.mktemp("texts")
    (path / "text.txt").write_text(TEXT)
    (path / "labels.txt").write_text(LABELLED)
    options = ("--dim", "4", "--min-count", "1", "--epochs", "1", "--threads", "1", "-o")
    expect(libraries, path, "train", "skipgram", "text.txt", *options, "model")
    expect(libraries, path, "train", "classifier", "labels.txt", *options, "labels")
    return path


def start(libraries, folder, *arguments):
    """Run Python without its site packages, in a folder."""
    command = [sys.executable, "-S", "-c", arguments[0], libraries, *arguments[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def expect(libraries, folder, *command):
    """The output of a command that must succeed."""
    result = start(libraries, folder, RUN, *command)
    assert result.returncode == 0, result.stderr
    return result.stdout


COMMANDS = [
    "neighbours model king",
    "similarity model king queen",
    "export model model.vec",
    "export model model.parquet",
    "export model model.safetensors",
    "export model.vec model.npy",
    "embed model text.txt -o texts.npy",
    "embed model text.txt -o sif.npy --pool sif",
    "predict labels labels.txt -k 1",
    "info model",
]


def test_commands_work(libraries, folder):
    result = start(libraries, folder, RUN_ALL, *COMMANDS)
    assert result.returncode == 0, result.stderr
    assert all(f"ended: 0 {command}\n" in result.stdout for command in COMMANDS)
    for help_page in ("train", "evaluate"):
        assert "Usage" in expect(libraries, folder, help_page, "--help")


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("quantize labels -o labels.ftz", "faiss-cpu"),
        ("index faiss model -o index", "faiss-cpu"),
        ("evaluate model --similarity pairs.tsv", "scipy"),
        ("export model model.kv", "gensim"),
    ],
)
def test_a_command_says_what_to_install(libraries, folder, command, package):
    (folder / "pairs.tsv").write_text("king\tqueen\t9\nking\tland\t2\nqueen\tland\t1\n")
    result = start(libraries, folder, RUN, *command.split())
    assert result.returncode == 1
    assert re.search(rf"^Error: .* requires \w+, which is not installed: pip install {package}\b", result.stderr, re.M)
    assert "Traceback" not in result.stderr


STATEMENTS = """
print(model.vectors.most_similar("king", top=1)[0][0])
print(em.embed(model, ["the king", "a land"]).shape)
print(em.load_classifier("labels").predict(["the cat"]).labels.tolist())
em.train("skipgram", ["a b a b"], dim=4, min_count=1, subsample=0).save("other", force=True)
for use in (lambda: em.sklearn.MeanVectorizer, lambda: em.build_index(model.vectors, "faiss")):
    try:
        use()
    except em.EmbeddingsError as error:
        print(error)
"""


def test_python_works_or_says_what_to_install(libraries, folder):
    answer = start(libraries, folder, SCRIPT.format(STATEMENTS))
    assert answer.returncode == 0, answer.stderr
    *results, imported = answer.stdout.splitlines()
    for result, fact in zip(results, ("queen", "(2, 4)", "__label__a", "scikit-learn", "faiss-cpu"), strict=True):
        assert fact in result
    assert imported == "[]"


def test_other_libraries_of_the_standard_installation_are_imported_by_the_function_that_explains_their_absence():
    for path in (path for room in ("embeddings", "plugins", "corpora", "eval") for path in (ROOT / room).rglob("*.py")):
        if path.is_relative_to(ROOT / "embeddings" / "sklearn"):  # whose modules `import_library` imports
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {id(part) for node in tree.body if is_for_types(node) for part in ast.walk(node)}
        for node in (node for node in ast.walk(tree) if id(node) not in skipped):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {name.partition(".")[0] for name in names} & LIBRARIES.keys(), (path, node.lineno)


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_the_standard_installation_includes_them():
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in required}
    assert names == {*SMALL, *LIBRARIES.values(), "gensim"} - {"llvmlite", "embeddings-toolkit"}

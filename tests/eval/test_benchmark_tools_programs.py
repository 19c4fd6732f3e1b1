"""Programs in a benchmark: descriptions, commands, converted vectors, settings of their own."""

import os
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest
from platforms import needs_wait4

import embeddings as em
from embeddings.errors import EmbeddingsError
from embeddings.eval.benchmark import runner, tools
from embeddings.eval.benchmark.tools import Job, Program, model_configs, select_tools
from embeddings.eval.benchmark.workspace import Workspace

(CONFIG,) = model_configs(["skipgram"], dim=[3], negatives=[4], threads=[2], window=5, min_count=1, epochs=2)
PROGRAM = f"""#!{sys.executable}
import sys, time
_, text, out, dim, epochs, architecture = sys.argv
words = sorted(set(open(text).read().split()))
lines = [f"{{len(words)}} {{dim}}"]
lines += [" ".join([word, *(str(number + len(words)) for number in range(int(dim)))]) for word in words]
end = time.process_time() + 0.25 * int(epochs)
while time.process_time() < end:
    pass
open(out, "w").write("\\n".join(lines) + "\\n")
sys.exit(0 if architecture == "sg" else 3)
"""
DESCRIPTION = """
name = "peer"
command = ["./program", "{text}", "{stem}.vec", "{dim}", "{epochs}", "{architecture}"]
vectors = "{stem}.vec"
trainers = ["skipgram", "cbow"]
version = "1.2"
notes = ["peer knows nothing."]
values.skipgram.architecture = "sg"
values.cbow.architecture = "cbow"
"""
pytestmark = needs_wait4


@pytest.fixture
def path(tmp_path):
    """A description next to its program."""
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = tmp_path / "peer.toml"
    path.write_text(DESCRIPTION)
    return path


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a text of three words."""
    workspace = Workspace(tmp_path / "work", 4, tests=None)
    workspace.folder.mkdir()
    workspace.text.write_text("a b a\nc\n")
    return workspace


def test_settings_are_filled_in(path):
    program = Program.read(path)
    job = Job(CONFIG, 7, "t.txt", "folder/v.bin")
    assert program.call(job) == [str(path.parent / "program"), "t.txt", "folder/v.vec", "3", "2", "sg"]
    untrained = replace(job.config, settings={**job.config.settings, "epochs": 0})
    assert program.call(replace(job, config=untrained))[4] == "0"
    flags = replace(program, command=["x", "{shrink_window}", "{seed} {threads}", "{{}}"])
    assert flags.call(job)[1:] == ["1", "7 2", "{}"]


def test_a_program_is_measured_and_its_vectors_are_converted(path, workspace):
    (_, tool) = select_tools([str(path)], [CONFIG])
    row = workspace.run(CONFIG, 1, tool)
    assert (row["tool"], row["version"], row["error"]) == ("peer", "1.2", "")
    assert row["whole_cpu"] >= 0.5
    assert (row["training_cpu"], row["words_read"]) == (None, None)
    assert not list(workspace.folder.glob("vectors*"))
    _, theirs = runner.summaries([{**row, "tool": "embeddings"}, row])
    assert (theirs.ratios["whole_cpu"], theirs.ratios["training_cpu"], theirs.words_per_second) == (1, None, None)
    job = Job(CONFIG, 1, str(workspace.text), str(workspace.folder / "vectors.bin"))
    workspace.measure(tool, job)
    vectors = em.load(job.out_path)
    assert vectors.words == ["a", "b", "c"]
    np.testing.assert_array_equal(vectors.matrix, [[3, 4, 5]] * 3)


def test_vectors_are_ordered_by_the_frequency_of_the_words(path, workspace):
    """Analogies are answered from the first words, and some programs save them in any order."""
    (_, tool) = select_tools([str(path)], [CONFIG])
    job = Job(CONFIG, 1, str(workspace.text), str(workspace.folder / "vectors.bin"))
    replace(workspace, vocabulary=["unknown", "c", "a"]).measure(tool, job)
    vectors = em.load(job.out_path)
    assert vectors.words == ["c", "a", "b"]
    np.testing.assert_array_equal(vectors.matrix, [[3, 4, 5]] * 3)


def test_training_is_what_a_run_takes_more_than_one_without_epochs(path, workspace):
    path.write_text("can_skip_training = true\n" + DESCRIPTION)
    (_, tool) = select_tools([str(path)], [CONFIG])
    row = workspace.run(CONFIG, 1, tool)
    assert 0.3 <= row["training_cpu"] <= row["whole_cpu"]


def test_a_failure_is_the_error_of_the_run(path, workspace):
    (cbow,) = model_configs(["cbow"], dim=[3], negatives=[4], threads=[2], window=5, min_count=1, epochs=1)
    (_, tool) = select_tools([str(path)], [CONFIG, cbow])
    assert workspace.run(cbow, 1, tool)["error"] == "exit code 3"
    path.write_text(DESCRIPTION.replace('vectors = "{stem}.vec"', 'vectors = "{stem}.other"'))
    (_, tool) = select_tools([str(path)], [CONFIG])
    assert "peer saved no vectors" in workspace.run(CONFIG, 1, tool)["error"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('name = "peer"', "", "name is missing"),
        ('name = "peer"', 'name = ""', "name is missing"),
        ('name = "peer"', 'name = "a/b"', "part of a file name"),
        ('name = "peer"', 'name = "embeddings"', "two tools"),
        ("notes", "note", "unknown key 'note'"),
        ('trainers = ["skipgram", "cbow"]', 'trainers = "cbow"', "trainers must be a list of texts"),
        ('version = "1.2"', "version = 1.2", "version must be text"),
        ("{dim}", "{dimension}", r"\{dimension\} has no value"),
        ("{dim}", "{max_vocab}", r"\{max_vocab\} has no value"),
        ("{dim}", "{dim", "brace"),
        ("{stem}.vec", "{stem.x}", "brace"),
        ("{dim}", "{dim[a]}", "brace"),
        ('"peer knows nothing."', '{text = "x", only = "y"}', "notes: only must be a table"),
        ('"peer knows nothing."', '{text = "x", min_threads = "4"}', "notes: min_threads must be a number"),
        ('"peer knows nothing."', "{text = 1}", "notes: text must be text"),
        ('version = "1.2"', 'module = "gensin"', "module must be one of embeddings, gensim, fasttext"),
        ('version = "1.2"', 'module = "no_such.module"', "module must be one of"),
        ('"cbow"]', '"cbaw"]', "'cbaw'"),
        ("./program", "./missing", "missing is not installed"),
        ("./program", "no-such-program", "no-such-program is not installed"),
        ("[", "[[", "not TOML"),
    ],
)
def test_wrong_descriptions_are_refused(path, before, after, message):
    assert before in DESCRIPTION
    path.write_text(DESCRIPTION.replace(before, after))
    with pytest.raises(EmbeddingsError, match=message):
        select_tools([str(path)], [CONFIG])


def test_settings_of_its_own_replace_those_of_the_benchmark(path):
    (_, tool) = select_tools([f"{path}:window=9,dim=4"], [CONFIG])
    assert tool.call(Job(CONFIG, 1, "t", "o"))[3] == "4"
    assert tool.name == "peer:window=9,dim=4"
    gensim = replace(tools.PEERS[0], module="embeddings")  # which is installed
    command = tool_with(gensim, "learning_rate=0.1").call(Job(CONFIG, 1, "t", "o"))
    assert Job.from_json(command[-1]).config.settings["learning_rate"] == 0.1


def tool_with(peer, text):
    """A peer with settings, selected by its name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("embeddings.eval.benchmark.tools.PEERS", [peer])
        return select_tools([f"{peer.name}:{text}"], [CONFIG])[1]


@pytest.mark.parametrize("text", ["epochs=3", "dim=0", "nothing=1", "dim", "dim=1,dim=2"])
def test_wrong_settings_of_a_peer_are_refused(path, text):
    with pytest.raises(EmbeddingsError):
        select_tools([f"{path}:{text}"], [CONFIG])


def test_names_of_tools_are_names_of_files(path, workspace):
    (_, tool) = select_tools([f"{path}:window=9"], [CONFIG])
    kept = workspace.folder / "kept"
    kept.mkdir()
    assert replace(workspace, vectors=kept).run(CONFIG, 1, tool)["error"] == ""
    (name,) = os.listdir(kept)
    assert name.endswith("-peer-window-9-1.bin")


@pytest.mark.parametrize("name", ["folder", "v.npy"])
def test_vectors_saved_as_several_files_are_removed(path, workspace, name):
    path.write_text(DESCRIPTION.replace('vectors = "{stem}.vec"', f'vectors = "{workspace.folder}/{name}"'))
    (_, tool) = select_tools([str(path)], [CONFIG])
    saved = em.Vectors(["a", "b"], np.ones((2, 3), np.float32))
    saved.save(workspace.folder / name, "model2vec" if name == "folder" else None)
    job = Job(CONFIG, 1, str(workspace.text), str(workspace.folder / "vectors.bin"))
    before = {workspace.text, workspace.folder / "vectors.bin"}
    tool.convert(job)
    assert set(workspace.folder.iterdir()) == before

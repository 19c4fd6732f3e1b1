"""A few broken files for each reader and all faults of each writer; the scripts in this folder test more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory use is measured through /proc"
)

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "training"))


def run(*args, timeout=3600):
    """Run a script of this folder, which must find nothing; its output."""
    process = subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def parse_table(output):
    """The rows of a table with a heading, as integers by name."""
    heading, *rows = (line.split("\t") for line in output.splitlines() if "\t" in line)
    return {name: dict(zip(heading[1:], map(int, numbers), strict=True)) for name, *numbers in rows}


@pytest.mark.slow
def test_broken_files_are_read_or_refused():
    result = parse_table(run(HERE / "fuzz.py", "--cases", 12))
    assert result["all"]["cases"] == 12 * (len(result) - 1) >= 600
    assert result["all"]["refused"] > result["all"]["cases"] / 4
    assert result["all"]["read"] > 0


FALSE_CONTENT = ["fields of any safetensors", "fields of format fasttext", "fields of vocabulary arrow"]


@pytest.mark.parametrize(("readers", "cases"), [(["format "], 15), (FALSE_CONTENT, 8)], ids=["bytes", "content"])
def test_damaged_vectors_and_false_content_are_read_or_refused(readers, cases):
    options = [part for name in readers for part in ("--reader", name)]
    result = parse_table(run(HERE / "fuzz.py", "--cases", cases, *options))
    assert result["all"]["refused"] > 0
    assert result["all"]["read"] > 0


long_running = pytest.mark.skipif("EMBEDDINGS_FUZZ" not in os.environ, reason="takes an hour: set EMBEDDINGS_FUZZ=500")


@pytest.mark.slow
@long_running
def test_thousands_of_broken_files_are_read_or_refused():
    run(HERE / "fuzz.py", "--cases", os.environ["EMBEDDINGS_FUZZ"], "--seed", 2)


def test_every_format_is_tested():
    from good_files import FORMAT_OPTIONS

    from embeddings.vectors import file_format

    names = {
        name for name in file_format.names() if file_format.load_format(name).read.__module__.startswith("embeddings.")
    }
    assert names == {form.split()[0] for form in FORMAT_OPTIONS}


@pytest.mark.slow
def test_faults_of_writers_leave_the_old_or_the_new():
    result = parse_table(run(HERE / "faults.py", "format npy", "model", "encoded corpus", "checkpoint"))
    assert all(row["refused"] and row["killed"] for row in result.values())


@pytest.mark.slow
@long_running
def test_faults_of_all_writers_leave_the_old_or_the_new():
    result = parse_table(run(HERE / "faults.py"))
    assert all(row["refused"] and row["killed"] for row in result.values())

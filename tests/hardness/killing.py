"""Compare a run that is killed (SIGKILL) at random moments and resumed to the end with an uninterrupted one.

    python tests/hardness/killing.py --kills 20 --threads 1 --epochs 20 sample

prints how far each start came, whether the result has the same bytes, and how similar the vectors are: the share of ten
nearest neighbours in common, and the correlation with human similarity ratings.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import embeddings as em
from embeddings.support import tensors
from embeddings.training.checkpoints import TENSORS, read_record

COMPARED_WORDS = 500


def train_command(out: Path, options: argparse.Namespace, every: str) -> list[str]:
    """The command line of a run."""
    settings = ["--dim", str(options.dim), "--epochs", str(options.epochs), "--threads", str(options.threads)]
    command = [sys.executable, "-m", "embeddings", "train", options.trainer, options.corpus, "-o", str(out), *settings]
    return [*command, "--shuffle", "--resume", "--checkpoint-every", every, "--quiet"]


def run_to_end(command: list[str]) -> float:
    """Run a command; returns the seconds."""
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def checkpoint_words(out: Path) -> int:
    """Words read at the last checkpoint; all checkpoints must be complete."""
    paths = em.Checkpoints(f"{out}.checkpoints").paths()
    for path in paths:
        read_record(path)
        tensors.load(path / TENSORS)
    return int(paths[-1].name.removeprefix("words-")) if paths else 0


def run_and_kill(command: list[str], out: Path, seconds: float) -> tuple[bool, int]:
    """Start a run and kill it; returns whether its model was not saved yet, and the words of its last checkpoint."""
    with subprocess.Popen(command) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return not out.exists(), checkpoint_words(out)
        if process.returncode:
            raise RuntimeError(f"a resumed run ended with exit code {process.returncode}")
        return False, checkpoint_words(out)


def compare(first: em.Model, second: em.Model) -> dict[str, Any]:
    """Whether two models have the same bytes, how similar they are, and how good each is."""
    tables = [{"vectors": model.vectors.matrix, **model.tables} for model in (first, second)]
    overlaps = []
    for word in first.vectors.words[:COMPARED_WORDS]:
        one, other = ({near for near, _ in model.vectors.most_similar(word, top=10)} for model in (first, second))
        overlaps.append(len(one & other) / 10)
    return {
        "same bytes": all(tables[0][name].tobytes() == tables[1][name].tobytes() for name in tables[0]),
        "neighbours in common": round(float(np.mean(overlaps)), 3),
        "wordsim353": [spearman(model) for model in (first, second)],
    }


def spearman(model: em.Model) -> float | None:
    """The correlation with the ratings of WordSim-353; None if the model knows too few of its words."""
    results = em.evaluate(model.vectors, similarity="wordsim353")
    values = [result.value for result in results if result.value is not None]
    return round(values[-1], 4) if values else None


def experiment(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Kill a run as often as requested, and compare its result."""
    whole, again, rng = folder / "whole", folder / "again", random.Random(options.seed)
    run_seconds = run_to_end(train_command(whole, options, "1h"))
    command = train_command(again, options, options.every)
    kills, starts, words_reached = 0, 0, [0]
    while kills < options.kills:
        starts += 1
        is_unfinished, words = run_and_kill(command, again, rng.uniform(0.1, 1.1) * run_seconds * options.stride)
        if not is_unfinished:  # it ended before it was killed: start over, and kill earlier
            em.load_model(again)  # the saved model must be complete
            shutil.rmtree(again)
            shutil.rmtree(f"{again}.checkpoints", ignore_errors=True)
            run_seconds *= 0.8
            words_reached.append(0)
            continue
        assert words >= words_reached[-1] or words == 0, f"checkpoint lost: {words_reached[-1]} words, then {words}"
        kills += 1
        words_reached.append(words)
    run_to_end(command)
    models = [em.load_model(path) for path in (whole, again)]
    return {
        "trainer": options.trainer,
        "threads": options.threads,
        "kills": kills,
        "starts": starts + 1,
        "words": models[0].record["total_words"],
        "words reached": words_reached[1:],
        **compare(*models),
        "files left": [path.name for path in folder.iterdir() if path.name not in ("whole", "again")],
    }


def main() -> None:
    """Run the experiment of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default="sample")
    parser.add_argument("--trainer", default="skipgram")
    for name, value in (("kills", 20), ("threads", 1), ("epochs", 20), ("dim", 50), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--every", default="0.2s", help="interval between checkpoints")
    parser.add_argument("--stride", type=float, default=0.15, help="maximum share of a run's time until it is killed")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        print(json.dumps(experiment(parser.parse_args(), Path(folder)), indent=1))


if __name__ == "__main__":
    main()

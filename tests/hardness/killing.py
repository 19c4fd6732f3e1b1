"""A run that is killed (-9) again and again at random moments and resumed to the end, beside one that never was.

    python tests/hardness/killing.py --kills 20 --threads 1 --epochs 20 sample

prints what became of it: how far each start came, what each kill cost, whether the end has the same bytes, and how
alike the vectors are: the share of ten nearest neighbours in common, and the correlation of ratings and cosines.
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
from embeddings.training.checkpoints import read

PROBES = 500  # words whose neighbours are compared


def command(out: Path, given: argparse.Namespace, every: str) -> list[str]:
    """The command line of a run."""
    how = ["--dim", str(given.dim), "--epochs", str(given.epochs), "--threads", str(given.threads), "--shuffle"]
    call = [sys.executable, "-m", "embeddings", "train", given.trainer, given.corpus, "-o", str(out), *how]
    return [*call, "--resume", "--checkpoint-every", every, "--quiet"]


def finished(call: list[str]) -> float:
    """Run it to its end; gives the seconds."""
    begun = time.perf_counter()
    subprocess.run(call, check=True)
    return time.perf_counter() - begun


def reached(out: Path) -> int:
    """Words of the last whole checkpoint; every one that is found must be whole."""
    found = em.Checkpoints(f"{out}.checkpoints").paths()
    for path in found:
        read(path)
    return int(found[-1].name.removeprefix("words-")) if found else 0


def killed(call: list[str], out: Path, seconds: float) -> tuple[bool, int]:
    """Start it and kill it after so long; whether it had not saved its model then, and the words it had kept."""
    with subprocess.Popen(call) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return not out.exists(), reached(out)
        if process.returncode:
            raise RuntimeError(f"a run that was resumed ended with {process.returncode}")
        return False, reached(out)


def alike(first: em.Model, second: em.Model) -> dict[str, Any]:
    """How near two models are to each other, and how good each is."""
    both = []
    for word in first.vectors.words[:PROBES]:
        near = [{found for found, _ in one.vectors.most_similar(word, top=10)} for one in (first, second)]
        both.append(len(near[0] & near[1]) / 10)
    rated = [spearman(one) for one in (first, second)]
    return {"neighbours in common": round(float(np.mean(both)), 3), "wordsim353": rated}


def spearman(model: em.Model) -> float | None:
    """Of the ratings of WordSim-353 and cosines, if words of it are known."""
    found = [one for one in em.evaluate(model.vectors, similarity="wordsim353") if one.value is not None]
    return round(found[-1].value, 4) if found else None


def same(first: em.Model, second: em.Model) -> bool:
    """Whether all that was learned has the same bytes."""
    tables = [{"vectors": one.vectors.matrix, **one.tables} for one in (first, second)]
    return all(tables[0][name].tobytes() == tables[1][name].tobytes() for name in tables[0])


def tried(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Kill a run as often as asked for, and compare its end."""
    whole, again, draw = folder / "whole", folder / "again", random.Random(given.seed)
    seconds = finished(command(whole, given, "1h"))
    call = command(again, given, given.every)
    kills, starts, places = 0, 0, [0]
    lived = seconds
    while kills < given.kills:
        starts += 1
        living, words = killed(call, again, draw.uniform(0.1, 1.1) * lived * given.stride)
        if not living:  # it came to its end before: from the beginning, and sooner
            em.load_model(again)  # what stands is whole
            shutil.rmtree(again)
            shutil.rmtree(f"{again}.checkpoints", ignore_errors=True)
            lived *= 0.8
            places.append(0)
            continue
        assert words >= places[-1] or words == 0, f"a checkpoint was lost: {places[-1]} words, then {words}"
        kills += 1
        places.append(words)
    finished(call)
    models = [em.load_model(path) for path in (whole, again)]
    total = models[0].record["total_words"]
    left = [path.name for path in folder.iterdir() if path.name not in ("whole", "again")]
    return {
        "trainer": given.trainer,
        "threads": given.threads,
        "kills": kills,
        "starts": starts + 1,
        "words": total,
        "reached": places[1:],
        "same bytes": same(*models),
        **alike(*models),
        "left behind": left,
    }


def main() -> None:
    """Do what the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", nargs="?", default="sample")
    options.add_argument("--trainer", default="skipgram")
    for name, value in (("kills", 20), ("threads", 1), ("epochs", 20), ("dim", 50), ("seed", 1)):
        options.add_argument(f"--{name}", type=int, default=value)
    options.add_argument("--every", default="0.2s", help="between checkpoints")
    options.add_argument("--stride", type=float, default=0.15, help="of a run's time, after which it is killed at most")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        print(json.dumps(tried(options.parse_args(), Path(folder)), indent=1))


if __name__ == "__main__":
    main()

"""Processes killed at random moments lose no complete checkpoint and end with the same bytes."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from platforms import needs_kill

from embeddings.support import tensors
from embeddings.training.checkpoints import TENSORS, Checkpoints, read_record

SCRIPT = """
import sys
import numpy as np
import embeddings as em

class PrintEvents(em.Callback):
    def on_run_start(self, run_start):
        print("started", run_start.words, flush=True)

    def on_checkpoint(self, path, progress):
        print("checkpoint", progress.words, flush=True)

rng = np.random.default_rng(1)
lines = [[f"w{i}" for i in rng.integers(0, 300, 40)] for _ in range(1000)]
checkpoints = em.Checkpoints(sys.argv[1], every=sys.argv[3], keep=2)
model = em.train("skipgram", em.Corpus(lines), dim=16, min_count=1, epochs=int(sys.argv[2]), threads=1, shuffle=True,
                 checkpoints=checkpoints, resume=True, callbacks=[PrintEvents()])
np.savez(sys.argv[4], vectors=model.vectors.matrix, output=model.tables["output"])
"""
EPOCHS = 100


def command(folder, out, every="0.02s"):
    return [sys.executable, "-c", SCRIPT, str(folder), str(EPOCHS), every, str(out)]


@pytest.mark.slow
@needs_kill
def test_killed_run_ends_with_the_same_bytes(tmp_path):
    subprocess.run(command(tmp_path / "whole", tmp_path / "whole.npz", "1h"), check=True, capture_output=True)
    rng, kills, words_reached = random.Random(1), 0, [0]
    folder = tmp_path / "c"
    while kills < 5:
        with subprocess.Popen(command(folder, tmp_path / "again.npz"), stdout=subprocess.PIPE, text=True) as process:
            words = int(process.stdout.readline().split()[1])
            assert words >= words_reached[-1], "a finished checkpoint was lost"
            while process.stdout.readline():
                if rng.random() < 0.3:
                    time.sleep(rng.random() * 0.04)
                    break
            process.send_signal(signal.SIGKILL)
        kills += 1
        for path in Checkpoints(folder).paths():
            read_record(path)
            tensors.load(path / TENSORS)
        words_reached.append(words)
    subprocess.run(command(folder, tmp_path / "again.npz"), check=True, capture_output=True)
    assert words_reached[-1] > 0
    whole, again = np.load(tmp_path / "whole.npz"), np.load(tmp_path / "again.npz")
    for name in ("vectors", "output"):
        assert whole[name].tobytes() == again[name].tobytes()

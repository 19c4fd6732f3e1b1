"""Trains each trainer with one thread on a few words, and prints a hash of each model's tensors, vocabulary and losses.

    python tests/trained_bytes.py            prints the hashes of this machine, as JSON
    python tests/trained_bytes.py --record   records those of the oldest processor in `tests/data/trained_bytes.json`

Record them again when a change of trained bytes is meant, and once for each version of numba or numpy that is tested.
Bytes depend on the instructions of a processor, so they are recorded and compared for the oldest one (`ENVIRONMENT`).
Trainers that call BLAS, LAPACK or PyTorch depend on these libraries too: of their tensors only sizes are compared.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
from interrupted_runs import CONFIGURATIONS, SMALL, corpus
from numpy._core._multiarray_umath import __cpu_dispatch__

import embeddings as em
from embeddings import registry
from embeddings.models.model_files import package_versions
from embeddings.support import tensors
from embeddings.testing.trainer_contract import synonym_corpus

RECORDED = Path(__file__).parent / "data" / "trained_bytes.json"
CHECKPOINTS = Path(__file__).parent / "data" / "checkpoints"
KEY = f"numba {numba.__version__}, numpy {np.__version__}, {platform.system()} {platform.machine()}"
ENVIRONMENT = {  # of the oldest processor, for numba, numpy, OpenBLAS and the C library
    "NUMBA_CPU_NAME": "x86-64" if platform.machine() == "x86_64" else "generic",
    "NUMBA_CPU_FEATURES": "",
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",
    **dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1"),
}
OTHERS = [
    ("skipgram", {"objective": "hierarchical-softmax"}),
    ("cbow", {"objective": "nce"}),
    ("cbow", {"objective": "sampled-softmax"}),
    ("cbow", {"objective": "adaptive-softmax", "cutoffs": "5,20"}),
    ("cbow", {"objective": "full-softmax"}),
    ("cbow", {"objective": "negative-sampling", "tie": True}),
    ("glove", {"subsample": None}),
    ("classifier", {"word_ngrams": 2}),
    ("text-pairs", {"batch_size": 32}),
    ("given-contexts", {}),
]
MEASURED = {  # trainers that call libraries of linear algebra
    "ppmi-svd": (), "distill": (), "tensor-indexing": (), "context2vec": ("torch",), "c2w": ("torch",),
}  # fmt: skip


class Halt(em.Callback):
    """Interrupts a run at the end of an epoch, as Ctrl-C does, after it rolled back to the epoch before, if asked."""

    def __init__(self, epoch: int, rolls_back: bool = False) -> None:
        self.epoch, self.rolls_back = epoch, rolls_back

    def on_epoch_end(self, epoch_end: em.training.EpochEnd) -> None:
        if self.rolls_back and epoch_end.epoch == 1:
            epoch_end.save_tables()
        if self.rolls_back and epoch_end.epoch == 2:
            epoch_end.roll_back(0.5)
        if epoch_end.epoch == self.epoch:
            raise KeyboardInterrupt

    def state(self) -> dict[str, Any]:
        return {"numbers": np.arange(3), "text": "a state"}


REPLICAS = em.training.Replicas(3, merge_every=2000)
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # settings and options of runs that are interrupted
    "shuffled": ({"shuffle": True, "epochs": 4}, {}),
    "averaged": ({"average_last": 0.7, "epochs": 4}, {}),
    "replicas": ({"epochs": 4}, {"replicas": REPLICAS}),
    "averaged-replicas": ({"average_last": 0.7, "shuffle": True, "epochs": 4}, {"replicas": REPLICAS}),
    "rolled-back": ({"epochs": 4}, {"rolls_back": True}),
    "rolled-back-replicas": ({"average_last": 0.7, "epochs": 4}, {"rolls_back": True, "replicas": REPLICAS}),
}


def text_of(trainer: str) -> em.Corpus:
    """Text that a trainer can learn from."""
    kind = registry.load("trainer", trainer)
    return corpus(trainer) if kind.reads_words_alone() else synonym_corpus(kind())


def settings_of(trainer: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a small model."""
    names = registry.load("trainer", trainer).__dataclass_fields__
    return {name: value for name, value in {**SMALL, **settings}.items() if name in names and value is not None}


def tensors_of(model: em.Model) -> dict[str, np.ndarray]:
    """All arrays that a saved model has."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        arrays = tensors.load(Path(folder) / "model" / "tensors.safetensors")
        return {name: np.array(array) for name, array in arrays.items()}


def digest(arrays: dict[str, np.ndarray], *values: object) -> str:
    """A hash of arrays and JSON values."""
    hashed = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        hashed.update(f"{name} {array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:20]


def digest_of(model: em.Model) -> str:
    """A hash of the tensors, the words and the losses of a model."""
    losses = [model.record.get(name) for name in ("words", "steps", "loss_by_epoch")]
    return digest(tensors_of(model), list(model.vectors.words), model.vocabulary.counts.tolist(), *losses)


def train(trainer: str, settings: dict[str, Any], **options: Any) -> em.Model:
    """Train a small model with one thread."""
    return em.train(trainer, text_of(trainer), threads=1, seed=3, **settings_of(trainer, settings), **options)


def run(name: str, folder: Path | None = None, *, epoch: int = 0, resume: bool = False) -> em.Model:
    """The model of one of `RUNS`: whole, interrupted at the end of an epoch, or resumed."""
    settings, options = RUNS[name]
    options = {key: value for key, value in options.items() if key != "rolls_back"}
    options["callbacks"] = [Halt(epoch, "rolls_back" in RUNS[name][1])]
    if folder is not None:
        options |= {"checkpoints": em.Checkpoints(folder), "resume": resume}
    try:
        return train("cbow" if "average_last" in settings else "skipgram", settings, **options)
    except em.training.Interrupted as interrupt:
        return interrupt.model


def unpack_checkpoints(path: Path, folder: Path) -> None:
    """Unpack checkpoints that an earlier version wrote, as if with the libraries of today."""
    shutil.unpack_archive(path, folder)
    for record in folder.glob("*/checkpoint.json"):
        content = json.loads(record.read_text())
        content["fingerprint"]["packages"] = package_versions()
        record.write_text(json.dumps(content))


def state_of(folder: Path) -> str:
    """A hash of the last checkpoint in a folder, but of nothing that depends on time."""
    state = em.Checkpoints(folder).latest()
    assert state is not None
    values = {name: state.values[name] for name in ("workers", "epochs_reported", "stopped", "average", "callbacks")}
    tally = {name: value for name, value in state.values["tally"].items() if name != "seconds"}
    return digest({name: np.array(array) for name, array in state.arrays.items()}, values, tally)


def sizes_of(model: em.Model) -> dict[str, list[float]]:
    """The shape, the mean absolute number and the root of the mean square of each array of a model."""
    sizes = {}
    for name, array in tensors_of(model).items():
        if array.dtype.kind == "f" and array.size:
            exact = array.astype(float)
            sizes[name] = [*array.shape, float(np.abs(exact).mean()), float(np.sqrt(np.square(exact).mean()))]
    return sizes


def results() -> Iterator[tuple[str, Any]]:
    """Pairs of the name of a case and its hash, or its sizes."""
    for trainer, settings in [*CONFIGURATIONS, *OTHERS]:
        if trainer not in MEASURED:
            yield f"{trainer} {settings or ''}".strip(), digest_of(train(trainer, settings))
    model = train("skipgram", {})
    yield "skipgram continued", digest_of(em.continue_training(model, [["w1", "new"] * 9] * 40, threads=1, min_count=1))
    for name, freeze in (("frozen", True), ("initial", False)):
        init = em.InitFrom(model.vectors, freeze=freeze)
        yield f"skipgram {name}", digest_of(train("skipgram", {"dim": 8}, init=init))
    for rule in ("mean", "mean-changed", "sum"):
        replicas = em.training.Replicas(3, merge_every=2000, rule=rule)  # type: ignore[arg-type]
        yield f"skipgram merged by {rule}", digest_of(train("skipgram", {}, replicas=replicas))
    for name in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            run(name, Path(folder), epoch=3)
            yield f"{name}: checkpoint", state_of(Path(folder))
            yield f"{name}: whole", digest_of(run(name))
            yield f"{name}: resumed", digest_of(run(name, Path(folder), resume=True))
    for path in sorted(CHECKPOINTS.glob("*.zip")):
        with tempfile.TemporaryDirectory() as folder:
            unpack_checkpoints(path, Path(folder))
            yield f"{path.stem}: resumed from an earlier version", digest_of(run(path.stem, Path(folder), resume=True))
    for trainer, libraries in MEASURED.items():
        if all(map(find_spec, libraries)):
            settings = {"min_phrases": 0} if trainer == "tensor-indexing" else {}
            yield f"{trainer} (sizes)", sizes_of(train(trainer, settings))


def all_results() -> dict[str, Any]:
    """The results of a process for the oldest processor."""
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def record() -> None:
    """Record the results of these versions of numba and numpy."""
    content = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    content[KEY] = all_results()
    texts = {
        key: ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
        for key, found in content.items()
    }
    RECORDED.write_text(
        "{\n" + ",\n".join(f" {json.dumps(key)}: {{\n{text}\n }}" for key, text in texts.items()) + "\n}\n"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        sys.stdout.write(json.dumps(dict(results()), indent=1) + "\n")

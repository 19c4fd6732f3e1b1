"""What a GPU can train: skip-gram and CBOW with negative sampling, on a machine with numba-cuda and a card."""

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from typing import Any

from embeddings.errors import S, SettingError
from embeddings.training.plan import Plan
from embeddings.training.run_options import RunOptions
from embeddings.training.training_data import TrainingData

MAX_DIM, MAX_NEGATIVES = 1024, 7  # of more, rows would be in slow memory instead of registers
HONOURED: dict[str, list[Any]] = {
    "objective": ["negative-sampling"], "negative_sharing": ["batch", "window"], "tie": [False], "combine": ["mean"],
    "context_gradient": ["undivided"],
}  # fmt: skip


class CudaDevice:
    """An NVIDIA GPU; of several, the one with the given number. See `embeddings.training.devices.device_of`."""

    def __init__(self, number: str) -> None:
        self.number = int(number or 0) if (number or "0").isdecimal() else -1

    def check(self, trainer: Any, run_options: RunOptions) -> None:
        """Refuse what no kernel of this package does, and a machine without numba-cuda, a driver or such a card."""
        for problem in chain(unsupported(trainer, run_options), missing(self.number)):
            raise SettingError(f"{S.device(trainer.device)} {problem}; use {S.device('cpu')}")

    def plan(self, data: TrainingData, plan: Plan) -> Plan:
        """The plan of a trainer, with the same tables and corpus, for the kernels of this package."""
        from embeddings.plugins.cuda.card import Card

        return Card(data, plan, self.number).plan


def unsupported(trainer: Any, run_options: RunOptions) -> Iterator[str]:
    """Settings that no kernel of this package honours."""
    for name, values in HONOURED.items():
        if (given := getattr(trainer, name, values[0])) not in values:
            yield f"requires {S[name](values[0])}, got {given!r}"
    for name, limit in {"dim": MAX_DIM, "negatives": MAX_NEGATIVES}.items():
        if (given := getattr(trainer, name)) > limit:
            yield f"requires {S[name]} of at most {limit}, got {given}"
    freezes = run_options.init is not None and run_options.init.freeze
    for name, value in {"replicas": run_options.replicas, "cluster": run_options.cluster, "freeze": freezes}.items():
        if value:
            yield f"cannot be combined with {S[name]}"


def missing(number: int) -> Iterator[str]:
    """What training on a GPU requires and this machine does not have."""
    if find_spec("numba_cuda") is None:
        yield "requires numba-cuda: pip install 'embeddings-toolkit[cuda]'"
    else:
        from numba import cuda

        if not cuda.is_available():
            yield "requires an NVIDIA card, its driver and the libraries of CUDA, which were not found"
        elif not 0 <= number < len(cuda.gpus):
            yield f"is not a card of this machine, whose cards are 0 to {len(cuda.gpus) - 1}"

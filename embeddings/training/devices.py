"""Where a model is trained: on the CPU, or on a device of a plugin."""

from dataclasses import dataclass
from typing import Any

from embeddings import registry
from embeddings.settings import Settings, option


@dataclass(frozen=True, kw_only=True)
class DeviceChoice(Settings):
    """Where a model is trained."""

    device: str = option(
        "cpu",
        "Where the model is trained: on the CPU, or on an NVIDIA GPU (cuda; cuda:1 is the second), whose runs are not "
        "bit-reproducible. A GPU pays above some 100 million words.",
    )


def device_of(trainer: Any) -> Any:
    """The device of a plugin that a trainer is to use, made with what follows a colon; None for the CPU.

    Its `check(trainer, run_options)` refuses what it cannot train, and its `plan(data, plan)` replaces the trainer's.
    """
    device = trainer.device if isinstance(trainer, DeviceChoice) else "cpu"
    name, _, number = device.partition(":")
    return None if device == "cpu" else registry.load("device", name)(number)

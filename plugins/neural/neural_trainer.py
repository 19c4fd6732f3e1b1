"""Base class of trainers of recurrent networks: settings, plan and tables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.models.model import Model
from embeddings.models.table import Table
from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.trained_networks import SentencePredictor
from embeddings.settings import LEARNING_RATE, Dimension, Schedule, SearchRange, VocabularySize, option
from embeddings.settings.objectives import WORD_OBJECTIVES
from embeddings.support.imports import import_extra
from embeddings.training.continued_training import saved_table
from embeddings.training.plan import Plan
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

if TYPE_CHECKING:
    from embeddings.kernels.sentence_block import SentenceBlock
    from embeddings.kernels.step_buffers import StepBuffers

BATCHES_PER_BLOCK = 8
MOMENTS = ("exp_avg", "exp_avg_sq")  # as Adam names them
STEPS = "steps"
NETWORK_OBJECTIVES = WORD_OBJECTIVES.only("negative-sampling", "nce", "sampled-softmax", "full-softmax")
if TYPE_CHECKING:
    NetworkObjective = str
else:
    NetworkObjective = NETWORK_OBJECTIVES.choices


@dataclass(frozen=True, kw_only=True)
class NeuralTrainer(Trainer, VocabularySize, Schedule, Dimension):
    """Base class of trainers of recurrent networks that read sentences word by word and predict words."""

    objective: NetworkObjective = option("negative-sampling", NETWORK_OBJECTIVES.help("How words are predicted."))
    negatives: int = option(
        10, "Random words for each word to predict; full-softmax has none.", ge=1, le=1000, common=True
    )
    noise_exponent: float = option(
        0.75, "Random words are drawn in proportion to count^exponent: 1 follows word frequency, 0 is uniform.", ge=-10,
        le=10,
    )  # fmt: skip
    subsample: float = option(
        0.0,
        "Subsampling threshold t for frequent words: an occurrence of a word with relative frequency f is predicted "
        "with probability sqrt(t/f) + t/f. All words are read. 0 predicts all.",
        ge=0,
        le=1,
        search=SearchRange(1e-5, 1e-2, log=True),
    )
    hidden_size: int | None = option(
        None, "Numbers in the state of an LSTM that reads words.  [default: as --dim]", ge=1, le=65536
    )
    max_length: int = option(100, "Words of a sentence; longer lines are cut into several.", ge=1, le=10_000)
    batch_words: int = option(
        2000, "Words in one step of Adam: sentences of similar length, with padding.", ge=1, le=1_000_000,
        search=SearchRange(500, 8000, log=True),
    )  # fmt: skip
    learning_rate: float = option(
        0.001, f"{LEARNING_RATE} Used by Adam.", gt=0, le=100, search=SearchRange(0.0003, 0.01, log=True), common=True
    )
    dropout: float = option(
        0.0,
        "Share of the inputs and outputs of the LSTMs that read words which is set to 0 in training. 0.2 to 0.5 helps "
        "with several epochs of a small corpus.",
        ge=0, le=0.95, search=SearchRange(0, 0.6),
    )  # fmt: skip
    max_gradient_norm: float = option(5.0, "Longer gradients of a step are scaled to this norm.", gt=0, le=1e9)
    shuffle: bool = option(
        True, "Shuffle the sentences of the corpus in every epoch, or read them in order.",
        flags="--shuffle/--no-shuffle",
    )  # fmt: skip
    device: Literal["auto", "cpu", "cuda"] = option(
        "auto", "Where the network is trained: on the CPU, on a GPU (cuda), or on a GPU if there is one (auto)."
    )
    has_parallel_kernel = True
    libraries = ("torch",)
    nce_normalizer: ClassVar[str] = "one"  # settings that objectives read and networks fix
    proposals: ClassVar[str] = "unigram"
    target_in_sample: ClassVar[bool] = True
    output_name: ClassVar[str]  # the output vectors in a model

    def __post_init__(self) -> None:
        super().__post_init__()
        NETWORK_OBJECTIVES.check(self, self.objective)

    @property
    def state_size(self) -> int:
        """Numbers in the state of an LSTM that reads words."""
        return self.hidden_size or self.dim

    def check_installation(self) -> None:
        """Refuse an installation without PyTorch, or a device that PyTorch does not have."""
        self.check_device()

    def check_device(self) -> str:
        """Return the device to train on; raises an error without PyTorch, or if PyTorch does not have the device."""
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin stall each other on a busy machine
        torch = import_extra("torch", "neural", f"training {self.trainer_name} models")
        has_gpu: bool = torch.cuda.is_available()
        if self.device == "cuda" and not has_gpu:
            raise SettingError(
                f"{S.device('cuda')} requires a GPU, but PyTorch {torch.__version__} finds none; use {S.device('cpu')}"
            )
        return "cpu" if self.device == "cpu" or not has_gpu else "cuda"

    def new_objective(self, vocabulary: Vocabulary, dim: int) -> Objective:
        """The objective that the settings choose, for hidden rows of `dim` numbers."""
        kind: type[Objective] = WORD_OBJECTIVES[self.objective].implementation()
        settings: Any = self
        return kind(settings, vocabulary, dim)

    def sentence_predictor(self, model: Model, dim: int, encode: Any) -> SentencePredictor:
        """The predictor of words of a trained model; `encode` computes hidden rows of `dim` numbers."""
        objective = self.new_objective(model.vocabulary, dim)
        declared = self.objective_tables(objective).items()
        tables = {name: saved_table(model, name, table).astype(np.float64) for name, table in declared}
        if objective.output_name == "words":
            tables["output"] = model.vectors.matrix.astype(np.float64)
        return SentencePredictor(objective, tables, encode, self.max_length)

    @classmethod
    def objective_tables(cls, objective: Objective) -> dict[str, Table]:
        """The tables of an objective; models hold its output vectors, if it has any, as `output_name`."""
        tables = objective.tables()
        if "output" in tables:
            tables["output"] = replace(tables["output"], saved_as=cls.output_name)
        return tables

    def network_plan(
        self, data: TrainingData, objective: Objective, tables: Mapping[str, Table], network: Any, **others: Any
    ) -> Plan:
        """The plan of a network whose parameters are `tables`.

        Arguments:
            network: makes the `Network` of one worker from all arrays, the device and the number of threads.
            others: other fields of the plan.
        """
        device, threads = self.check_device(), 1 if data.has_replicas else data.threads
        state = {STEPS: Table(rows=len(tables), dim=1, axis="other", saved_as=None, on_merge="mean-changed")}
        changes: dict[str, Any] = {"init": None, "saved_as": None, "on_continue": None, "on_merge": "mean-changed"}
        for moment in MOMENTS:  # of Adam, which checkpoints contain and models do not
            state |= {f"{name}.{moment}": replace(table, **changes) for name, table in tables.items()}
        return Plan(
            tables={**tables, **state},
            stream=data.sentence_stream(
                objective.noise_weights,
                objective.noise,
                max_length=self.max_length,
                size=BATCHES_PER_BLOCK * self.batch_words,
            ),
            kernel=learn,
            operands=lambda arrays: network(arrays, device, threads),
            load=lambda network: network.load(),
            store=lambda network: network.store(),
            loss_is_estimate=objective.estimates_loss,
            **others,
        )


def learn(block: "SentenceBlock", network: Any, buffers: "StepBuffers", rate: float) -> None:
    """Take one step of Adam for each batch of sentences."""
    network.learn(block, buffers, rate)


def lstm_tables(name: str, inputs: int, size: int, seed: int) -> dict[str, Table]:
    """The weights (4 size, inputs + size) and the bias (1, 4 size) of an LSTM in `plugins.neural.trained_networks`."""

    def set_bias(table: np.ndarray, dim: int, seed: int) -> None:
        table[:, size : 2 * size] = 1  # forget nothing at first (Jozefowicz et al. 2015)

    return {
        f"{name}_weights": parameters(4 * size, inputs + size, seed, scale=size**-0.5),
        f"{name}_bias": Table(rows=1, dim=4 * size, axis="other", init=set_bias, on_continue="copy"),
    }


def linear_tables(name: str, inputs: int, outputs: int, seed: int) -> dict[str, Table]:
    """The weights (outputs, inputs) and the bias (1, outputs) of a linear layer."""
    return {
        f"{name}_weights": parameters(outputs, inputs, seed, scale=inputs**-0.5),
        f"{name}_bias": Table(rows=1, dim=outputs, axis="other", on_continue="copy"),
    }


def parameters(rows: int, dim: int, seed: int, *, scale: float, **changes: Any) -> Table:
    """A table of numbers uniform in (-scale, scale)."""

    def initialize(table: np.ndarray, dim: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for start in range(0, rows, 1 << 16):
            block = table[start : start + (1 << 16), :dim]
            block[:] = rng.uniform(-scale, scale, block.shape)

    settings: dict[str, Any] = {"axis": "other", "on_continue": "copy", "seed": seed << 32, **changes}
    return Table(rows=rows, dim=dim, init=initialize, **settings)

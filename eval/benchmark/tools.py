"""The tools that are compared: how each is started, and its names for our settings."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import Any, NamedTuple

from embeddings.eval.benchmark.job import NEGATIVE_SAMPLING, Job, ModelConfig
from embeddings.eval.benchmark.program import Program
from embeddings.models.subwords import FASTTEXT_BUCKETS
from embeddings.support.extras import INSTALL_GENSIM

Command = Callable[[Job], list[str]]
WORD_MODELS = ("skipgram", "cbow")  # of gensim and fastText
DOCUMENT_MODELS = ("paragraph-dbow", "paragraph-dm")  # of gensim
HIERARCHICAL_SOFTMAX = "hierarchical-softmax"
FASTTEXT_LOSSES = {NEGATIVE_SAMPLING: "ns", HIERARCHICAL_SOFTMAX: "hs", "full-softmax": "softmax"}


class Note(NamedTuple):
    """What a reader of the results must know about a tool, and for which settings (with `trainer` and `threads`)."""

    text: str
    applies_to: Callable[[dict[str, Any]], bool] = lambda settings: True


@dataclass(frozen=True)
class Tool:
    """A tool: what Python imports, and our names of its models and objectives (None for all of ours).

    A `program` is not imported. `remedy` says how to install a tool that is not a program.

    `whole` is the command from text to saved vectors, `training` one that measures training alone; None if `whole`
    reports it too.
    """

    name: str
    module: str
    trainers: tuple[str, ...] | None
    whole: Command
    training: Command | None = None
    objectives: tuple[str, ...] | None = None
    notes: tuple[Note, ...] = ()
    program: Program | None = None
    remedy: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported, checked without importing it, or whether the program is found."""
        if self.program is not None:
            return self.program.executable is not None
        return find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """The installed version, whichever package provides the module; empty if unknown."""
        if self.program is not None:
            return self.program.version
        packages = packages_distributions().get(self.module, [])
        return version(packages[0]) if packages else ""

    def supports(self, config: ModelConfig) -> bool:
        """Whether it has the model of a configuration."""
        has_objective = self.objectives is None or config.objective in self.objectives
        return has_objective and (self.trainers is None or config.trainer in self.trainers)


def peer_command(name: str) -> Command:
    """The command that runs a function of `peers`."""
    return lambda job: [sys.executable, "-m", "embeddings.eval.benchmark.peers", name, job.to_json()]


def train_command(job: Job) -> list[str]:
    """Our own command line, with every setting."""
    from embeddings import registry

    trainer = registry.load("trainer", job.config.trainer)
    return [
        *(sys.executable, "-m", "embeddings", "train", job.config.trainer, job.text, "-o", job.out, "--quiet"),
        *("--tokenizer", "whitespace", "--case", "keep"),
        *("--seed", str(job.seed), "--threads", str(job.config.threads)),
        *setting_options(trainer, job.config.settings),
    ]


def setting_options(trainer: type, settings: dict[str, Any]) -> list[str]:
    """Settings as options of `embeddings train`; None leaves the default."""
    from embeddings.settings import flag

    options: list[str] = []
    for field in fields(trainer):
        value = settings[field.name]
        if isinstance(value, bool):
            yes, no = (field.metadata.get("flags") or f"--{field.name}/--no-{field.name}".replace("_", "-")).split("/")
            options.append(yes if value else no)
        elif value is not None:
            options += [flag(field.name), str(value)]
    return options


def gensim_settings(config: ModelConfig) -> dict[str, Any]:
    """The arguments of gensim's Word2Vec, FastText or Doc2Vec."""
    settings, is_tree = config.settings, config.objective == HIERARCHICAL_SOFTMAX
    common = {
        "hs": int(is_tree),
        "vector_size": settings["dim"],
        "window": settings["window"],
        "shrink_windows": settings["shrink_window"] is not False,
        "negative": 0 if is_tree else settings["negatives"],
        "ns_exponent": settings["noise_exponent"],
        "sample": settings["subsample"],
        "min_count": settings["min_count"],
        "max_final_vocab": settings["max_vocab"],
        "epochs": settings["epochs"],
        "alpha": settings["learning_rate"],
        "min_alpha": config.min_learning_rate,
        "workers": config.threads,
    }
    if config.trainer == "paragraph-dbow":
        return {"dm": 0, "dbow_words": int(settings["train_words"]), **common}
    if config.has_documents:  # Doc2Vec overwrites `dm_mean` by `cbow_mean`
        combine = settings["combine"]
        return {"dm": 1, "dm_concat": int(combine == "concat"), "cbow_mean": int(combine == "mean"), **common}
    if config.trainer == "fasttext":
        common |= {"min_n": settings["min_n"], "max_n": settings["max_n"]}
        common |= {"bucket": settings["buckets"] or FASTTEXT_BUCKETS}
    is_skipgram = settings.get("architecture", config.trainer) == "skipgram"
    return {"sg": int(is_skipgram), "cbow_mean": int(settings.get("combine", "mean") == "mean"), **common}


def fasttext_settings(config: ModelConfig) -> dict[str, Any]:
    """The arguments of `fasttext.train_unsupervised`; with n-grams for the trainer fasttext."""
    settings = config.settings
    ngrams = {"minn": 0, "maxn": 0}
    if config.trainer == "fasttext":
        buckets = settings["buckets"] or FASTTEXT_BUCKETS
        ngrams = {"minn": settings["min_n"], "maxn": settings["max_n"], "bucket": buckets}
    return {
        **ngrams,
        "model": settings.get("architecture", config.trainer),
        "loss": FASTTEXT_LOSSES[config.objective],
        "wordNgrams": 1,
        "dim": settings["dim"],
        "ws": settings["window"],
        "neg": settings["negatives"],
        "t": settings["subsample"] or 1.0,  # by t = 0 fastText means that no word is kept
        "minCount": settings["min_count"],
        "epoch": settings["epochs"],
        "lr": settings["learning_rate"],
        "thread": config.threads,
        "verbose": 0,
    }


def has_own_settings(settings: dict[str, Any]) -> bool:
    """Whether settings that the other tools do not have differ from what these do."""
    same = {"schedule": "linear", "warm_up": None, "average_last": None, "initializer": "uniform", "tie": False}
    return any(settings.get(name, value) != value for name, value in same.items())


OWN_SETTINGS = "{} ignores the schedule, averages, initial values and weight tying: it has the linear schedule only."
BUCKETS = (
    f"{{}} has {FASTTEXT_BUCKETS:,} rows for n-grams unless buckets is set; embeddings has as many as the n-grams of "
    "the vocabulary fill."
)
OURS = Tool(
    "embeddings",
    module="embeddings",
    trainers=None,
    whole=train_command,
    training=peer_command("embeddings"),
)
PEERS = (
    Tool(
        "gensim",
        remedy=INSTALL_GENSIM,
        module="gensim",
        trainers=(*WORD_MODELS, "fasttext", *DOCUMENT_MODELS),
        whole=peer_command("gensim"),
        objectives=(NEGATIVE_SAMPLING, HIERARCHICAL_SOFTMAX),
        notes=(
            Note(OWN_SETTINGS.format("gensim"), has_own_settings),
            Note(BUCKETS.format("gensim's FastText"), lambda settings: settings["trainer"] == "fasttext"),
            Note(
                "gensim's learning rate falls with the share of all words that each worker has read itself, so with "
                "several workers it stays above the schedule.",
                lambda settings: settings["threads"] > 1,
            ),
        ),
    ),
    Tool(
        "fasttext",
        remedy="pip install fasttext-numpy2",
        module="fasttext",
        trainers=(*WORD_MODELS, "fasttext"),
        whole=peer_command("fasttext"),
        objectives=tuple(FASTTEXT_LOSSES),
        notes=(
            Note(OWN_SETTINGS.format("fastText"), has_own_settings),
            Note(BUCKETS.format("fastText"), lambda settings: settings["trainer"] == "fasttext"),
            Note(
                "fastText draws negative samples by count to the power 0.5, which is fixed; the others by 0.75.",
                lambda settings: settings.get("objective", NEGATIVE_SAMPLING) == NEGATIVE_SAMPLING,
            ),
            Note("fastText's learning rate falls to 0, not to a ten-thousandth of its start."),
            Note(
                "fastText 0.9.2 initialises a tenth of its vectors at random per thread: with fewer than 10 threads "
                "the vectors of rarer words start from zero, which costs quality.",
                lambda settings: settings["threads"] < 10,
            ),
        ),
    ),
)

"""The tools that are compared: how each is started, and what our settings are called there."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import Any, NamedTuple

from embeddings.errors import SettingError
from embeddings.eval.benchmark.job import Job, Shape
from embeddings.models.subwords import FASTTEXT_BUCKETS

Command = Callable[[Job], list[str]]
MODELS = ("skipgram", "cbow")  # of ours, those that gensim and fastText have too
OF_DOCUMENTS = ("paragraph-dbow", "paragraph-dm")  # those that gensim has too


def always(shape: dict[str, Any]) -> bool:
    """Whatever the shape is."""
    return True


class Note(NamedTuple):
    """What a reader of the comparison must know of a tool, and of which shapes, by their trainer and settings."""

    text: str
    of: Callable[[dict[str, Any]], bool] = always


@dataclass(frozen=True)
class Tool:
    """A tool: how it is found and started, what it can learn, and what of our settings it cannot follow.

    Arguments:
        package: what pip installs.
        module: what Python imports.
        trainers: our names of the models it has; None for all of them.
        whole: the command from the text to saved vectors.
        training: a command of its own that measures training alone; None if `whole` tells that too.
        notes: what a reader of the comparison must know.
    """

    name: str
    package: str
    module: str
    trainers: tuple[str, ...] | None
    whole: Command
    training: Command | None = None
    notes: tuple[Note, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether it can be imported; it is not."""
        return find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """The installed version, whichever package it came with; empty if that is not known."""
        found = packages_distributions().get(self.module, [])
        return version(found[0]) if found else ""

    def learns(self, shape: Shape) -> bool:
        """Whether it has the model of the shape."""
        return self.trainers is None or shape.trainer in self.trainers


def runner(name: str) -> Command:
    """The command that runs a function of `peers`."""
    return lambda job: [sys.executable, "-m", "embeddings.eval.benchmark.peers", name, job.to_json()]


def train_command(job: Job) -> list[str]:
    """Our own command line, with every setting said."""
    from embeddings import registry

    trainer = registry.load("trainer", job.shape.trainer)
    return [
        *(sys.executable, "-m", "embeddings", "train", job.shape.trainer, job.text, "-o", job.out, "--quiet"),
        *("--tokenizer", "whitespace", "--case", "keep"),
        *("--seed", str(job.seed), "--threads", str(job.shape.threads)),
        *flags(trainer, job.shape.settings),
    ]


def flags(trainer: type, settings: dict[str, Any]) -> list[str]:
    """Settings as `embeddings train` takes them; None is left to its default."""
    import dataclasses

    from embeddings.settings import flag

    given: list[str] = []
    for field in dataclasses.fields(trainer):
        value = settings[field.name]
        if isinstance(value, bool):
            yes, no = (field.metadata.get("flags") or f"--{field.name}/--no-{field.name}".replace("_", "-")).split("/")
            given.append(yes if value else no)
        elif value is not None:
            given += [flag(field.name), str(value)]
    return given


def gensim_settings(shape: Shape) -> dict[str, Any]:
    """The arguments of `gensim.models.Word2Vec` for a shape, or of `FastText` or `Doc2Vec` for their models."""
    settings = shape.settings
    if shape.documents:
        return {**doc2vec_settings(shape), **common_settings(shape)}
    ngrams = {"min_n": settings["min_n"], "max_n": settings["max_n"]} if shape.trainer == "fasttext" else {}
    if ngrams:
        ngrams |= {"bucket": settings["buckets"] or FASTTEXT_BUCKETS}
    return {
        **ngrams,
        "sg": int(settings.get("architecture", shape.trainer) == "skipgram"),
        "cbow_mean": int(settings.get("combine", "mean") == "mean"),
        **common_settings(shape),
    }


def doc2vec_settings(shape: Shape) -> dict[str, Any]:
    """The arguments of `gensim.models.Doc2Vec` for its models; its `dm_mean` is overwritten by `cbow_mean`."""
    if shape.trainer == "paragraph-dbow":
        return {"dm": 0, "dbow_words": int(shape.settings["train_words"])}
    combine = shape.settings["combine"]
    return {"dm": 1, "dm_concat": int(combine == "concat"), "cbow_mean": int(combine == "mean")}


def common_settings(shape: Shape) -> dict[str, Any]:
    """The arguments that all models of gensim have."""
    settings = shape.settings
    return {
        "hs": 0,
        "vector_size": settings["dim"],
        "window": settings["window"],
        "shrink_windows": settings["shrink_window"] is not False,
        "negative": settings["negatives"],
        "ns_exponent": settings["noise_exponent"],
        "sample": settings["subsample"],
        "min_count": settings["min_count"],
        "max_final_vocab": settings["max_vocab"],
        "epochs": settings["epochs"],
        "alpha": settings["learning_rate"],
        "min_alpha": shape.floor,
        "workers": shape.threads,
    }


def fasttext_settings(shape: Shape) -> dict[str, Any]:
    """The arguments of `fasttext.train_unsupervised` for a shape; with n-grams for the trainer fasttext.

    fastText keeps a word with chance sqrt(t/f) + t/f as we do, but takes t = 0 to mean that none is kept.
    """
    settings = shape.settings
    ngrams = {"minn": 0, "maxn": 0}
    if shape.trainer == "fasttext":
        buckets = settings["buckets"] or FASTTEXT_BUCKETS
        ngrams = {"minn": settings["min_n"], "maxn": settings["max_n"], "bucket": buckets}
    return {
        **ngrams,
        "model": settings.get("architecture", shape.trainer),
        "loss": "ns",
        "wordNgrams": 1,
        "dim": settings["dim"],
        "ws": settings["window"],
        "neg": settings["negatives"],
        "t": settings["subsample"] or 1.0,
        "minCount": settings["min_count"],
        "epoch": settings["epochs"],
        "lr": settings["learning_rate"],
        "thread": shape.threads,
        "verbose": 0,
    }


BUCKETS = (
    f"{{}} has {FASTTEXT_BUCKETS:,} rows for n-grams where buckets is not said; embeddings has as many of them as the "
    "vocabulary's n-grams would fill."
)
OURS = Tool(
    "embeddings",
    package="embeddings-toolkit",
    module="embeddings",
    trainers=None,
    whole=train_command,
    training=runner("embeddings"),
)
PEERS = (
    Tool(
        "gensim",
        package="gensim",
        module="gensim",
        trainers=(*MODELS, "fasttext", *OF_DOCUMENTS),
        whole=runner("gensim"),
        notes=(
            Note(BUCKETS.format("gensim's FastText"), lambda shape: shape["trainer"] == "fasttext"),
            Note(
                "gensim's rate falls by the words that each worker read itself, out of all, so with several workers it "
                "stays above the schedule.",
                lambda shape: shape["threads"] > 1,
            ),
        ),
    ),
    Tool(
        "fasttext",
        package="fasttext-numpy2",
        module="fasttext",
        trainers=(*MODELS, "fasttext"),
        whole=runner("fasttext"),
        notes=(
            Note(BUCKETS.format("fastText"), lambda shape: shape["trainer"] == "fasttext"),
            Note(
                "fastText draws noise words by count to the power 0.5, which cannot be set; the others to the power "
                "0.75."
            ),
            Note("fastText's rate falls to 0 and not to a ten-thousandth of its start."),
            Note(
                "fastText 0.9.2 gives a tenth of its vectors a random start for each thread: with fewer than 10 "
                "threads the rest, the rarer words, start from zero, which costs quality.",
                lambda shape: shape["threads"] < 10,
            ),
        ),
    ),
)


def chosen(names: Sequence[str], shapes: Sequence[Shape]) -> list[Tool]:
    """Our tool, then the peers of these names, or every installed one that has one of the models.

    Raises:
        SettingError: a named peer is unknown or not installed, or has none of the models.
    """
    known = {peer.name: peer for peer in PEERS}
    found = []
    for name in dict.fromkeys(names):
        if name not in known:
            raise SettingError(f"peer must be one of {', '.join(known)}, not {name!r}")
        peer = known[name]
        if not peer.installed:
            raise SettingError(f"{name} is not installed: pip install {peer.package}")
        if not any(map(peer.learns, shapes)):
            models = ", ".join(dict.fromkeys(shape.trainer for shape in shapes))
            raise SettingError(f"{name} has no {models}; it has {', '.join(peer.trainers or ())}")
        found.append(peer)
    everyone = [peer for peer in PEERS if peer.installed and any(map(peer.learns, shapes))]
    return [OURS, *(found if names else everyone)]

"""The tools that are compared: how each is started, and its names for our settings."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

from embeddings.errors import FormatError, S, SettingError
from embeddings.eval.benchmark.job import NEGATIVE_SAMPLING, Job, ModelConfig
from embeddings.models.subwords import FASTTEXT_BUCKETS
from embeddings.support.imports import INSTALL_GENSIM
from embeddings.support.text_lines import read_toml

REQUIRED = ("name", "command", "trainers")
TYPES: dict[str, type] = {
    "name": str, "command": list, "trainers": list, "vectors": str, "version": str, "objectives": list,
    "values": dict, "notes": list, "can_skip_training": bool,
}  # fmt: skip
EXPECTED = {str: "text", list: "a list of texts", dict: "a table of tables", bool: "true or false"}


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program, called by `command`, in which names in braces such as {dim} and {text} are replaced.

    Attributes:
        path: the description, for messages.
        name: what the results call it.
        command: the program and its arguments.
        trainers: our names of the models that it has.
        vectors: where it saves vectors, in any installed format.
        objectives: our names of the objectives that it has.
        values: further names to replace, by trainer or objective.
        version: its version, which it cannot be asked for.
        can_skip_training: whether it can run with zero epochs; what this takes less than a whole run is training.
        notes: what a reader of the results must know.
    """

    path: Path
    name: str
    command: Sequence[str]
    trainers: Sequence[str]
    vectors: str = "{out}"
    objectives: Sequence[str] = (NEGATIVE_SAMPLING,)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    version: str = ""
    can_skip_training: bool = False
    notes: Sequence[str] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a description.

        Raises:
            FormatError: it cannot be read, or has an unknown, missing or mistyped key.
        """
        content = read_toml(path, "description of a program")
        for key in content:
            if key not in TYPES:
                raise FormatError(f"{path}: unknown key {key!r:.80}; known keys: {', '.join(sorted(TYPES))}")
        for key in REQUIRED:
            if not content.get(key):
                raise FormatError(f"{path}: {key} is missing or empty")
        for key, value in content.items():
            if not has_type(value, TYPES[key]):
                raise FormatError(f"{path}: {key} must be {EXPECTED[TYPES[key]]}, got {value!r:.80}")
        if set(content["name"]) & set('/\\:,="'):
            raise FormatError(f"{path}: name must be part of a file name, without / \\ : , = and quotes")
        return cls(path=Path(path), **content)

    @property
    def executable(self) -> str | None:
        """The path of the program; relative to the description if it is not looked up. None if it is not found."""
        name = self.command[0]
        return shutil.which(str(self.path.parent / name) if os.path.dirname(name) else name)

    def call(self, job: Job) -> list[str]:
        """The command from the text of a job to saved vectors.

        Raises:
            SettingError: a name in braces has no value.
        """
        values = self.values_of(job)
        return [self.executable or self.command[0], *(self.fill(argument, values) for argument in self.command[1:])]

    def call_without_training(self, job: Job) -> list[str] | None:
        """The same with zero epochs; None if the program cannot do that."""
        untrained = replace(job.config, settings={**job.config.settings, "epochs": 0})
        return self.call(replace(job, config=untrained)) if self.can_skip_training else None

    def saved_vectors(self, job: Job) -> Path:
        """Where the program saves the vectors of a job."""
        return Path(self.fill(self.vectors, self.values_of(job)))

    def convert(self, job: Job, words: Sequence[str] = ()) -> None:
        """Save the vectors of the program where a job expects them.

        Arguments:
            words: in decreasing frequency, for programs that save them in another order; other words follow.
        """
        from embeddings.models.loading import load

        saved = self.saved_vectors(job)
        vectors = load(saved, errors="replace")
        vectors = vectors.subset([*(word for word in words if word in vectors), *vectors.words])  # each word once
        vectors.save(job.out, "word2vec-binary", force=True)
        if saved != Path(job.out):
            saved.unlink()

    def values_of(self, job: Job) -> dict[str, str]:
        """What the names in braces stand for."""
        config = job.config
        settings = {
            **config.settings,
            "threads": config.threads,
            "min_learning_rate": config.min_learning_rate,
            **self.values.get(config.trainer, {}),
            **self.values.get(config.objective, {}),
            **{
                "trainer": config.trainer,
                "seed": job.seed,
                "text": job.text,
                "out": job.out,
                "stem": str(Path(job.out).with_suffix("")),
            },
        }
        known = {name: value for name, value in settings.items() if value is not None}
        return {name: str(int(value) if isinstance(value, bool) else value) for name, value in known.items()}

    def fill(self, argument: str, values: Mapping[str, str]) -> str:
        """An argument with every name in braces replaced."""
        try:
            return argument.format_map(values)
        except KeyError as error:
            known = ", ".join(sorted(values))
            raise SettingError(f"{self.path}: {{{error.args[0]}}} has no value; these have: {known}") from None
        except (ValueError, IndexError, AttributeError) as error:
            raise SettingError(f"{self.path}: {argument!r:.80}: {error}; write {{{{ for a brace") from None


def has_type(value: Any, expected: type) -> bool:
    """Whether a value of a description has its type, and what is in it has."""
    if expected is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if expected is dict:
        return isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())
    return isinstance(value, expected)


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
    for declared in fields(trainer):
        value = settings[declared.name]
        if isinstance(value, bool):
            flags = declared.metadata.get("flags") or f"--{declared.name}/--no-{declared.name}".replace("_", "-")
            yes, no = flags.split("/")
            options.append(yes if value else no)
        elif value is not None:
            options += [flag(declared.name), str(value)]
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


PROGRAM_SUFFIX = ".toml"


def select_tools(names: Sequence[str], configs: Sequence[ModelConfig]) -> list[Tool]:
    """Our tool, then these peers, or by default all installed peers that have one of the models.

    Arguments:
        names: a peer, the file of a program's description, or either with settings of its own, such as
            "gensim:learning_rate=0.05" or "glove.toml:window=15".
        configs: the models of the benchmark.

    Raises:
        SettingError: a peer is unknown, not installed or has none of the models, or two have one name.
        FormatError: a description cannot be read.
    """
    if not names:
        return [OURS, *(peer for peer in PEERS if peer.is_installed and any(map(peer.supports, configs)))]
    tools = [select_tool(name, configs) for name in dict.fromkeys(names)]
    for number, tool in enumerate(tools):
        if tool.name in (OURS.name, *(other.name for other in tools[:number])):
            raise SettingError(f"two tools are called {tool.name!r}; change the name in one description")
    return [OURS, *tools]


def select_tool(text: str, configs: Sequence[ModelConfig]) -> Tool:
    """A peer by its name or description, with settings of its own after a colon."""
    name, colon, own = text.partition(PROGRAM_SUFFIX + ":") if PROGRAM_SUFFIX in text else text.partition(":")
    tool = find_tool(name + PROGRAM_SUFFIX * bool(colon) if PROGRAM_SUFFIX in text else name)
    models = [config for config in configs if tool.supports(config)]
    if not models:
        wanted = ", ".join(dict.fromkeys(config.trainer for config in configs))
        raise SettingError(f"{tool.name} does not support {wanted}; it supports {', '.join(tool.trainers or ())}")
    if own:
        tool = with_settings(tool, own, {config.trainer: parse_settings(text, own, config) for config in models})
    for config in models:
        job = Job(config, 1, "text", "out")
        tool.whole(job)  # reports names without a value
        if tool.program is not None:
            tool.program.saved_vectors(job)
    return tool


def find_tool(name: str) -> Tool:
    """A peer by its name, or by the file of its description."""
    if name.endswith(PROGRAM_SUFFIX):
        tool = describe_program(Program.read(name))
        remedy = f"install it, or correct the command in {name}"
    else:
        peers = {peer.name: peer for peer in PEERS}
        if name not in peers:
            raise SettingError(
                f"{S.peer} must be one of {', '.join(peers)}, or a file that ends in .toml, got {name!r}"
            )
        tool, remedy = peers[name], peers[name].remedy
    if not tool.is_installed:
        what = tool.program.command[0] if tool.program is not None else tool.name
        raise SettingError(f"{what} is not installed: {remedy}")
    return tool


def describe_program(program: Program) -> Tool:
    """The tool that a description describes."""
    from embeddings import registry

    for trainer in program.trainers:
        registry.load("trainer", trainer)  # refuses an unknown one
    return Tool(
        program.name,
        module="",
        trainers=tuple(program.trainers),
        whole=program.call,
        objectives=tuple(program.objectives),
        notes=tuple(Note(text) for text in program.notes),
        program=program,
    )


def parse_settings(label: str, text: str, config: ModelConfig) -> dict[str, Any]:
    """Settings "name=value,name=value" that the trainer of a configuration accepts."""
    from embeddings import registry
    from embeddings.indexes.index_spec import parse_spec

    trainer, own = parse_spec(f"{config.trainer}:{text}", label, group="trainer")
    if "epochs" in own:
        raise SettingError(f"{label!r}: epochs must be the same for all tools; set --epochs")
    registry.create("trainer", trainer, {**config.settings, **own})
    return own


def with_settings(tool: Tool, text: str, settings: Mapping[str, Mapping[str, Any]]) -> Tool:
    """A tool that runs with settings of its own, by trainer, instead of those of the benchmark."""

    def replaced(command: Command) -> Command:
        return lambda job: command(replace(job, config=with_own(job.config)))

    def with_own(config: ModelConfig) -> ModelConfig:
        return replace(config, settings={**config.settings, **settings[config.trainer]})

    return replace(
        tool,
        name=f"{tool.name}:{text}",
        whole=replaced(tool.whole),
        training=replaced(tool.training) if tool.training else None,
        notes=(*tool.notes, Note(f"{tool.name}:{text} has these settings instead of those of the table.")),
    )

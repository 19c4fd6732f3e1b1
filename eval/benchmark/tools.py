"""The models and the tools of a benchmark, and the job that trains a model by a tool.

Each tool is described in a TOML file: how it is started, and its names for our settings. `programs/` has
the descriptions of this package, gensim and fastText; users add files for other programs.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Self

from embeddings.errors import FormatError, S, SettingError
from embeddings.learning_rates import DEFAULT_RATIOS, LINEAR
from embeddings.settings import field_types
from embeddings.support.text_lines import read_toml

NEGATIVE_SAMPLING = "negative-sampling"
UNSAFE = re.compile(r"[:=,/]+")  # in names of files


@dataclass(frozen=True)
class ModelConfig:
    """A model: the name of our trainer, all of its settings, and the number of threads.

    `given` are the settings that were given with the name of the trainer, by which configurations differ.
    """

    trainer: str
    settings: dict[str, Any]
    threads: int
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def min_learning_rate(self) -> float:
        """The learning rate at the end, as in `embeddings.settings.Schedule`."""
        rate = self.settings.get("min_learning_rate")
        default = self.settings["learning_rate"] / DEFAULT_RATIOS[self.settings.get("schedule", LINEAR)]
        return float(default if rate is None else rate)

    @property
    def has_documents(self) -> bool:
        """Whether it is a document model."""
        return "documents" in self.settings

    @property
    def objective(self) -> str:
        """How words are predicted."""
        return str(self.settings.get("objective", NEGATIVE_SAMPLING))

    @property
    def model_id(self) -> str:
        """The trainer, how a document model combines documents with words, and any other objective."""
        combine = self.settings.get("combine") if self.has_documents else None
        objective = None if self.objective == NEGATIVE_SAMPLING else self.objective
        return "-".join(part for part in (self.trainer, combine, objective) if part is not None)

    @property
    def distinction(self) -> dict[str, Any]:
        """The settings by which configurations of a model differ."""
        names = [name for name in ("dim", "negatives") if name in self.settings]
        common: dict[str, Any] = {name: self.settings[name] for name in names}
        given = {name: value for name, value in self.given.items() if name not in ("combine", "objective", *common)}
        return {**given, **common, "threads": self.threads}

    @property
    def file_name(self) -> str:
        """The configuration in the name of a file."""
        parts = (f"{name}{value}" for name, value in self.distinction.items())
        return UNSAFE.sub("-", "-".join([self.model_id, *parts]))

    @property
    def label(self) -> str:
        """The configuration in progress messages."""
        return " ".join([self.model_id, *(f"{name} {value}" for name, value in self.distinction.items())])


@dataclass(frozen=True)
class Job:
    """One run of a configuration, which reads the file `text_path` and writes `out_path`.

    The text has words separated by spaces, for document models one document per line. The output is a word2vec binary
    file; of document models it may also be the folder of a saved model, and vectors are named by document number, from
    0 on.
    """

    config: ModelConfig
    seed: int
    text_path: str
    out_path: str

    def to_json(self) -> str:
        """The job as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The job that `to_json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "config": ModelConfig(**fields["config"])})


def model_configs(
    trainers: Sequence[str],
    *,
    dim: Sequence[int],
    negatives: Sequence[int],
    threads: Sequence[int] = (),
    **common: Any,
) -> list[ModelConfig]:
    """A configuration for every combination, with all settings of its trainer; by default `threads` is all cores.

    A trainer is a name, optionally with settings, as in "paragraph-dm:combine=concat,learning_rate=0.025". Common
    settings that it does not have are left out.
    """
    from embeddings import registry
    from embeddings.indexes.index import parse_spec
    from embeddings.support.system import available_threads

    configs: list[ModelConfig] = []
    for trainer, *values, n_threads in product(trainers, dim, negatives, threads or [available_threads()]):
        name, given = parse_spec(trainer, group="trainer")
        known = field_types(registry.load("trainer", name))
        shared = dict(zip(("dim", "negatives"), values, strict=True)) | common
        settings = {key: value for key, value in shared.items() if key in known} | given
        config = ModelConfig(name, asdict(registry.create("trainer", name, settings)), n_threads, given)
        if config not in configs:
            configs.append(config)
    if len({config.has_documents for config in configs}) > 1:
        raise SettingError(
            "benchmark document models and word models separately: they read the corpus with different line boundaries"
        )
    return configs


MODULES = ("embeddings", "gensim", "fasttext")  # libraries that `peers` calls
TYPES: dict[str, Any] = {
    "name": str, "command": list, "trainers": list, "vectors": str, "version": str, "objectives": list,
    "values": dict, "notes": list, "can_skip_training": bool, "module": str, "arguments": dict, "defaults": dict,
    "remedy": str,
}  # fmt: skip
NOTE_TYPES = {"text": str, "only": dict, "unless": dict, "min_threads": int | float, "max_threads": int | float}
EXPECTED = {str: "text", list: "a list of texts", dict: "a table", bool: "true or false", int | float: "a number"}
ITEM_TYPES = {"notes": str | dict, "values": dict, "command": str, "trainers": str, "objectives": str}
OPTIONS = "{options}"  # an argument that stands for all settings as options of `embeddings train`


@dataclass(frozen=True)
class Note:
    """A remark about a tool for readers of the results, and the settings for which it holds.

    The settings include `trainer` and `threads`.

    Arguments:
        only: required setting values.
        unless: the note is hidden if all of these settings have these values; "" means None.
        min_threads, max_threads: the number of threads.
    """

    text: str
    only: Mapping[str, Any] = field(default_factory=dict)
    unless: Mapping[str, Any] = field(default_factory=dict)
    min_threads: int = 1
    max_threads: float = float("inf")

    def applies_to(self, settings: Mapping[str, Any]) -> bool:
        """Whether the note is about a run with the given settings."""
        settings = {"objective": NEGATIVE_SAMPLING, **settings}
        unless = {name: None if value == "" else value for name, value in self.unless.items()}
        return (
            self.min_threads <= settings["threads"] <= self.max_threads
            and all(settings.get(name) == value for name, value in self.only.items())
            and (not unless or any(settings.get(name, value) != value for name, value in unless.items()))
        )


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program, called by `command`, in which names in braces such as {dim} and {text} are replaced.

    Attributes:
        path: the description, for messages.
        name: what the results call it.
        command: the program and its arguments; {python} is the running one.
        trainers: our names of the models that it has; empty for all.
        vectors: where it saves vectors, in any installed format.
        objectives: our names of the objectives that it has; empty for all.
        values: further names to replace, by trainer, objective or the value of another setting.
        defaults: the values of settings that a trainer does not have.
        version: the version to report, because the program cannot report it.
        can_skip_training: whether it can run with zero epochs; training time is then the whole run minus that run.
        notes: what a reader of the results must know.
        module: the Python library to call, which reports training time; without `command`, whole runs also call it.
        arguments: of the function of `module`, each the name of a setting, or a number.
        remedy: how to install it.
        own: settings, by trainer, instead of those of the benchmark.
    """

    path: Path
    name: str
    command: Sequence[str] = ()
    trainers: Sequence[str] = ()
    vectors: str = "{out}"
    objectives: Sequence[str] = (NEGATIVE_SAMPLING,)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    can_skip_training: bool = False
    notes: Sequence[Note] = ()
    module: str = ""
    arguments: Mapping[str, str | int] = field(default_factory=dict)
    remedy: str = ""
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a description.

        Raises:
            FormatError: it cannot be read, or has an unknown, missing or mistyped key.
        """
        content = read_toml(path, "description of a program")
        check_types(path, content, TYPES)
        for key in ("name",) if content.get("module") in MODULES else ("name", "command", "trainers"):
            if not content.get(key):
                raise FormatError(f"{path}: {key} is missing or empty")
        if content.get("module", MODULES[0]) not in MODULES:
            raise FormatError(f"{path}: module must be one of {', '.join(MODULES)}, got {content['module']!r:.80}")
        if set(content["name"]) & set('/\\:,="'):
            raise FormatError(f"{path}: name must be part of a file name, without / \\ : , = and quotes")
        notes = [{"text": one} if isinstance(one, str) else one for one in content.pop("notes", ())]
        for note in notes:
            check_types(f"{path}: notes", {"text": None, **note}, NOTE_TYPES)
        return cls(path=Path(path), notes=[Note(**note) for note in notes], **content)

    @property
    def known_version(self) -> str:
        """The installed version of the library, whichever package provides it, or the described one; may be empty."""
        return installed_version(self.module) if self.module else self.version

    @property
    def executable(self) -> str | None:
        """The path of the program; relative to the description if it is not looked up. None if it is not found."""
        name = sys.executable if self.command[0] == "{python}" else self.command[0]
        return shutil.which(str(self.path.parent / name) if os.path.dirname(name) else name)

    @property
    def is_installed(self) -> bool:
        """Whether the library can be imported, checked without importing it, or the program is found."""
        return (find_spec(self.module) if self.module else self.executable) is not None

    def supports(self, config: ModelConfig) -> bool:
        """Whether it has the model and the objective of a configuration."""
        has_objective = not self.objectives or config.objective in self.objectives
        return has_objective and (not self.trainers or config.trainer in self.trainers)

    def with_own(self, job: Job) -> Job:
        """A job in which the program's own settings replace settings of the benchmark."""
        settings = {**job.config.settings, **self.own.get(job.config.trainer, {})}
        return replace(job, config=replace(job.config, settings=settings))

    def call(self, job: Job) -> list[str]:
        """The command from the text of a job to saved vectors.

        Raises:
            SettingError: a name in braces has no value.
        """
        if not self.command:
            return self.clock_command(job)
        values, words = self.texts(job), [self.executable or self.command[0]]
        for argument in self.command[1:]:
            words += (
                setting_options(self.with_own(job).config) if argument == OPTIONS else [self.fill(argument, values)]
            )
        return words

    def clock_command(self, job: Job) -> list[str]:
        """The command that calls the library, and prints the time of training."""
        module = "embeddings.eval.benchmark.peers"
        return [sys.executable, "-m", module, str(self.path), self.with_own(job).to_json()]

    def arguments_of(self, job: Job) -> dict[str, Any]:
        """The arguments of the library's function, except arguments that name a setting without a value."""
        values = self.values_of(job)
        pairs = (
            (name, values.get(value) if isinstance(value, str) else value) for name, value in self.arguments.items()
        )
        return {name: value for name, value in pairs if value is not None}

    def saved_vectors(self, job: Job) -> Path:
        """The path where the program saves the vectors of a job."""
        return Path(self.fill(self.vectors, self.texts(job)))

    def convert(self, job: Job, words: Sequence[str] = ()) -> None:
        """Save the vectors of the program where a job expects them.

        Arguments:
            words: in decreasing frequency, for programs that save them in another order; other words follow.
        """
        from embeddings.models.loading import load

        saved = self.saved_vectors(job)
        vectors = load(saved, errors="replace")
        vectors = vectors.subset([*(word for word in words if word in vectors), *vectors.words])  # each word once
        vectors.save(job.out_path, "word2vec-binary", force=True)
        if saved != Path(job.out_path):
            self.remove_vectors(job)

    def remove_vectors(self, job: Job) -> None:
        """Remove the file or folder where the program saves vectors, and companion files of its format."""
        from embeddings.vectors import file_format

        saved = self.saved_vectors(job)
        name = file_format.sniff(saved) if saved.exists() else None
        companions = file_format.load_format(name).companions if name else ()
        for path in (saved, *map(saved.with_suffix, companions)):
            remove(path)

    def values_of(self, job: Job) -> dict[str, Any]:
        """The replacement for each name in braces: settings, `values`, `defaults` and the paths of the job."""
        config = self.with_own(job).config
        known = {name: value for name, value in config.settings.items() if value is not None}
        for key in (config.trainer, config.objective, *(value for value in known.values() if isinstance(value, str))):
            known |= self.values.get(key, {})
        paths = {"text": job.text_path, "out": job.out_path, "stem": str(Path(job.out_path).with_suffix(""))}
        run = {"threads": config.threads, "trainer": config.trainer, "seed": job.seed}
        return {**self.defaults, "min_learning_rate": config.min_learning_rate, **known, **run, **paths}

    def texts(self, job: Job) -> dict[str, str]:
        """The values of names as texts."""
        values = self.values_of(job).items()
        return {name: str(int(value) if isinstance(value, bool) else value) for name, value in values}

    def fill(self, argument: str, values: Mapping[str, str]) -> str:
        """An argument with every name in braces replaced."""
        try:
            return argument.format_map(values)
        except KeyError as error:
            known = ", ".join(sorted(values))
            raise SettingError(f"{self.path}: {{{error.args[0]}}} has no value; these have: {known}") from None
        except (ValueError, IndexError, AttributeError, TypeError) as error:
            raise SettingError(f"{self.path}: {argument!r:.80}: {error}; write {{{{ for a brace") from None


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def check_types(where: object, content: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    """Raise a FormatError if a key is unknown, or its value, or an item of its list or table, has another type."""
    for key, value in content.items():
        if key not in types:
            raise FormatError(f"{where}: unknown key {key!r:.80}; known keys: {', '.join(sorted(types))}")
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if not isinstance(value, types[key]) or not all(isinstance(one, ITEM_TYPES.get(key, object)) for one in items):
            raise FormatError(f"{where}: {key} must be {EXPECTED[types[key]]}, got {value!r:.80}")


@cache
def installed_version(module: str) -> str:
    """The version of the package that provides a module; empty if unknown."""
    packages = packages_distributions().get(module, [])
    return version(packages[0]) if packages else ""


def setting_options(config: ModelConfig) -> list[str]:
    """The settings of a configuration as options of `embeddings train`; None leaves the default."""
    from embeddings import registry
    from embeddings.settings import flag

    options: list[str] = []
    for declared in fields(registry.load("trainer", config.trainer)):
        value = config.settings[declared.name]
        if isinstance(value, bool):
            flags = declared.metadata.get("flags") or f"--{declared.name}/--no-{declared.name}".replace("_", "-")
            yes, no = flags.split("/")
            options.append(yes if value else no)
        elif value is not None:
            options += [flag(declared.name), str(value)]
    return options


SUFFIX = ".toml"
NONE = "none"  # for no peer
OURS, *PEERS = (Program.read(Path(__file__).parent / "programs" / (name + SUFFIX)) for name in MODULES)


def select_tools(names: Sequence[str], configs: Sequence[ModelConfig]) -> list[Program]:
    """The tools of a benchmark: ours, then the named peers, or all installed ones that support one of the models.

    The name "none" alone is for no peer.

    Arguments:
        names: a peer, the file of a program's description, or either with settings of its own, such as
            "gensim:learning_rate=0.05" or "glove.toml:window=15".
        configs: the models of the benchmark.

    Raises:
        SettingError: a peer is unknown, not installed or supports none of the models, or two have the same name.
        FormatError: a description cannot be read.
    """
    if not names:
        return [OURS, *(peer for peer in PEERS if peer.is_installed and any(map(peer.supports, configs)))]
    if NONE in names and len(names) > 1:
        raise SettingError(f"{S.peer(NONE)} cannot be combined with other peers")
    tools = [select_tool(name, configs) for name in dict.fromkeys(names) if name != NONE]
    for number, tool in enumerate(tools):
        if tool.name in (OURS.name, *(other.name for other in tools[:number])):
            raise SettingError(f"two tools are called {tool.name!r}; change the name in one description")
    return [OURS, *tools]


def select_tool(text: str, configs: Sequence[ModelConfig]) -> Program:
    """A peer by its name or description, with settings of its own after a colon."""
    from embeddings import registry
    from embeddings.indexes.index import parse_spec

    name, colon, own = text.partition(SUFFIX + ":") if SUFFIX in text else text.partition(":")
    tool = find_tool(name + SUFFIX * bool(colon) if SUFFIX in text else name)
    models = [config for config in configs if tool.supports(config)]
    if not models:
        wanted = ", ".join(dict.fromkeys(config.trainer for config in configs))
        raise SettingError(f"{tool.name} does not support {wanted}; it supports {', '.join(tool.trainers)}")
    if own:
        settings = {}
        for config in models:
            trainer, settings[config.trainer] = parse_spec(f"{config.trainer}:{own}", text, group="trainer")
            if "epochs" in settings[trainer]:
                raise SettingError(f"{text!r}: epochs must be the same for all tools; set --epochs")
            registry.create("trainer", trainer, {**config.settings, **settings[trainer]})  # refuses wrong values
        note = Note(f"{tool.name}:{own} has these settings instead of those of the table.")
        tool = replace(tool, name=f"{tool.name}:{own}", own=settings, notes=[*tool.notes, note])
    for config in models:
        job = Job(config, 1, "text", "out")
        tool.call(job)  # reports names without a value
        tool.saved_vectors(job)
    return tool


def find_tool(name: str) -> Program:
    """A peer by its name, or by the file of its description."""
    from embeddings import registry

    peers = {peer.name: peer for peer in PEERS}
    if name.endswith(SUFFIX):
        tool = Program.read(name)
        for trainer in tool.trainers:
            registry.load("trainer", trainer)  # refuses an unknown one
    elif name in peers:
        tool = peers[name]
    else:
        raise SettingError(
            f"{S.peer} must be one of {', '.join(peers)}, a file that ends in .toml, or {NONE}, got {name!r}"
        )
    if not tool.is_installed:
        remedy = tool.remedy or f"install it, or correct the command in {name}"
        raise SettingError(f"{tool.module or tool.command[0]} is not installed: {remedy}")
    return tool

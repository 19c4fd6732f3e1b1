"""The models and the tools of a benchmark, and the job that trains a model by a tool.

Each tool is described in a TOML file: how it is started, and its names for our settings. `programs/` has the
descriptions of this package, gensim and fastText. As a program, `python tools/benchmark_programs.py PROGRAM JOB`, this
module runs a job of a Python library in a process of its own. The last line of its output is JSON: the times of
`training`, the `words` read over all epochs, and the `overhead` of measuring, where there is one.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Self

from embeddings.learning_rates import DEFAULT_RATIOS, LINEAR
from embeddings.settings import field_types, flag

NEGATIVE_SAMPLING = "negative-sampling"
UNSAFE = re.compile(r"[:=,/]+")  # in names of files


@dataclass(frozen=True)
class ModelConfig:
    """A model: the name of our trainer, all of its settings, and the number of threads.

    `given` are the settings that were given with the name of the trainer.
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
    def label(self) -> str:
        """The trainer and the settings that were given with it, in progress messages and names of files."""
        return " ".join([self.trainer, *(f"{name} {value}" for name, value in self.given.items())])


def model_configs(trainers: Sequence[str], threads: int, **common: Any) -> list[ModelConfig]:
    """The configurations of trainers, each with all of its settings.

    A trainer is a name, optionally with settings, as in "paragraph-dm:combine=concat,learning_rate=0.025". Common
    settings that it does not have are left out.
    """
    from embeddings import registry  # here, as imports count towards the time of libraries
    from embeddings.vectors.index import parse_spec

    configs = []
    for trainer in trainers:
        name, given = parse_spec(trainer, group="trainer")
        known = field_types(registry.load("trainer", name))
        settings = {key: value for key, value in common.items() if key in known} | given
        configs.append(ModelConfig(name, asdict(registry.create("trainer", name, settings)), threads, given))
    return configs


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


OPTIONS = "{options}"  # an argument that stands for all settings as options of `embeddings train`


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program, called by `command`, in which names in braces such as {dim} and {text} are replaced.

    Attributes:
        path: the description.
        name: what the results call it.
        command: the program and its arguments; {python} is the running one.
        trainers: our names of the models that it has; empty for all.
        vectors: where it saves vectors, in any installed format.
        objectives: our names of the objectives that it has; empty for all.
        values: further names to replace, by trainer, objective or the value of another setting.
        defaults: the values of settings that a trainer does not have.
        version: the version to report, because the program cannot report it.
        notes: what a reader of the results must know.
        module: the Python library to call, which reports training time; without `command`, whole runs also call it.
        arguments: of the function of `module`, each the name of a setting, or a number.
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
    notes: Sequence[Note] = ()
    module: str = ""
    arguments: Mapping[str, str | int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a description."""
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        notes = [{"text": one} if isinstance(one, str) else one for one in content.pop("notes", ())]
        return cls(path=Path(path), notes=[Note(**note) for note in notes], **content)

    @property
    def known_version(self) -> str:
        """The installed version of the library, whichever package provides it, or the described one; may be empty."""
        packages = packages_distributions().get(self.module, [])
        return version(packages[0]) if packages else self.version

    @property
    def is_installed(self) -> bool:
        """Whether the library can be imported, checked without importing it; a program is found when it runs."""
        return not self.module or find_spec(self.module) is not None

    def supports(self, config: ModelConfig) -> bool:
        """Whether it has the model and the objective of a configuration."""
        has_objective = not self.objectives or config.objective in self.objectives
        return has_objective and (not self.trainers or config.trainer in self.trainers)

    def call(self, job: Job) -> list[str]:
        """The command from the text of a job to saved vectors."""
        if not self.command:
            return self.clock_command(job)
        name, *arguments = self.command
        program = sys.executable if name == "{python}" else str(self.path.parent / name) if "/" in name else name
        values, words = self.texts(job), [program]
        for argument in arguments:
            words += setting_options(job.config) if argument == OPTIONS else [argument.format_map(values)]
        return words

    def clock_command(self, job: Job) -> list[str]:
        """The command that calls the library, and prints the time of training."""
        return [sys.executable, __file__, str(self.path), json.dumps(asdict(job))]

    def arguments_of(self, job: Job) -> dict[str, Any]:
        """The arguments of the library's function, except arguments that name a setting without a value."""
        values = self.values_of(job)
        pairs = (
            (name, values.get(value) if isinstance(value, str) else value) for name, value in self.arguments.items()
        )
        return {name: value for name, value in pairs if value is not None}

    def saved_vectors(self, job: Job) -> Path:
        """The path where the program saves the vectors of a job."""
        return Path(self.vectors.format_map(self.texts(job)))

    def values_of(self, job: Job) -> dict[str, Any]:
        """The replacement for each name in braces: settings, `values`, `defaults` and the paths of the job."""
        config = job.config
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


def setting_options(config: ModelConfig) -> list[str]:
    """The settings of a configuration as options of `embeddings train`; None leaves the default."""
    from embeddings import registry

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


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its CPU (user and system, all threads) and wall seconds."""
    cpu, wall = process_time(), perf_counter()
    result = work()
    return result, {"cpu": process_time() - cpu, "wall": perf_counter() - wall}


def run_embeddings(job: Job, program: Program) -> dict[str, Any]:
    """Our trainer alone: the corpus is encoded and kernels are loaded beforehand; nothing is saved."""
    from embeddings import registry
    from embeddings.corpora import Corpus

    trainer = registry.create("trainer", job.config.trainer, job.config.settings)
    toy = Corpus([["a", "b"] * 50])
    replace(trainer, epochs=1, min_count=1).train(toy, threads=1)
    toy.encode().close()
    corpus = Corpus(job.text_path, tokenizer="whitespace", case="keep")
    corpus.encode()
    model, training = timed(lambda: trainer.train(corpus, threads=job.config.threads, seed=job.seed))
    return {"training": training, "words": model.record["words"]}


def run_gensim(job: Job, program: Program) -> dict[str, Any]:
    """Run gensim from a file, its fastest way; training is `train`, after `build_vocab`."""
    from gensim.models import Doc2Vec, FastText, Word2Vec

    has_documents = job.config.has_documents
    model_class = Doc2Vec if has_documents else FastText if job.config.trainer == "fasttext" else Word2Vec
    model = model_class(**program.arguments_of(job))
    model.build_vocab(corpus_file=job.text_path)
    total = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    counts, training = timed(lambda: model.train(corpus_file=job.text_path, epochs=model.epochs, **total))
    words = counts[1] if counts else model.corpus_total_words * model.epochs  # Doc2Vec returns nothing
    if has_documents:
        from embeddings.models.document_vectors import document_numbers
        from embeddings.vectors.vectors import Vectors

        matrix = model.dv.vectors
        Vectors(document_numbers(len(matrix)), matrix).save(job.out_path, "word2vec-binary", force=True)
    else:
        model.wv.save_word2vec_format(job.out_path, binary=True)
    return {"training": training, "words": words}


def run_fasttext(job: Job, program: Program) -> dict[str, Any]:
    """Run fastText, which counts and trains in one call: training is that call minus one with zero epochs."""
    import fasttext
    import numpy as np
    from fasttext.FastText import EOS, unsupervised_default

    from embeddings.vectors.vectors import Vectors

    settings = program.arguments_of(job)
    settings["t"] = settings["t"] or 1.0  # by t = 0 fastText means that no word is kept
    unsupervised_default["seed"] = job.seed  # the only setting that is not an argument
    _, overhead = timed(lambda: fasttext.train_unsupervised(job.text_path, **{**settings, "epoch": 0}))
    model, training = timed(lambda: fasttext.train_unsupervised(job.text_path, **settings))
    words = [word for word in model.get_words(on_unicode_error="replace") if word != EOS]  # EOS: the end of a line
    Vectors(words, np.array([model.get_word_vector(word) for word in words])).save(job.out_path, force=True)
    training = {unit: max(seconds - overhead[unit], 0.0) for unit, seconds in training.items()}
    return {"training": training, "overhead": overhead, "words": None}


OURS, *PEERS = (
    Program.read(Path(__file__).parent / "programs" / f"{name}.toml") for name in ("embeddings", "gensim", "fasttext")
)

if __name__ == "__main__":
    run = {"embeddings": run_embeddings, "gensim": run_gensim, "fasttext": run_fasttext}
    program, job = Program.read(sys.argv[1]), json.loads(sys.argv[2])
    figures = run[program.module](Job(**{**job, "config": ModelConfig(**job["config"])}), program)
    sys.stdout.write("\n" + json.dumps(figures) + "\n")

"""The folder of a search: what is searched, a line of JSON for each trial, and the best and the first model."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from embeddings.errors import EmbeddingsError, FormatError, OutputError
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.statistics.results import Comparison, Comparisons, Result, Scores
from embeddings.models.loading import load_classifier, load_model
from embeddings.models.model import Model
from embeddings.support.docstrings import argument_texts
from embeddings.support.files import check_own_folder
from embeddings.support.foreign_files import path_below
from embeddings.support.local_paths import check_local
from embeddings.support.records import check_fields, read_versioned, to_jsonable
from embeddings.support.result_table import ResultTable, TabularResult
from embeddings.training.trainer import Trainer

State = Literal["complete", "halved", "failed"]


class TuningError(EmbeddingsError):
    """A search found no settings."""


class ModelSizeError(TuningError):
    """A model cannot be made as small as the search requires."""


@dataclass(frozen=True)
class Judgement:
    """The score of a model, higher is better; and the result to keep, such as the model or a smaller version of it."""

    score: float
    result: Any
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One training run of a search.

    Arguments:
        number: from 1.
        settings: those that the search varies.
        state: "complete"; "halved", if successive halving ended it after the last of `epoch_scores`; or "failed".
        score: that of the dev half, or with `half="all"` of all labelled texts; None if the trial failed, and `reason`
            then says why.
        seconds: of training and scoring, without compilation.
        epoch_scores: the score after each epoch at which the trial was compared with others.
        details: from the judgement.
        values: what the sampler drew, before it was rounded; `notes` of the pruner.
    """

    number: int
    settings: dict[str, Any]
    state: State
    score: float | None
    seconds: float
    reason: str | None = None
    epoch_scores: dict[int, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    notes: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(repr=False)
class Tuning(TabularResult):
    """The outcome of a search.

    Arguments:
        trials: all of them; the first one has the settings that the trainer was given.
        best: the complete trial with the highest score.
        result: its model, or what the metric made of it.
        trainer: with its settings.
        metric: what the trials were scored by.
        test: the results on the test half of the best trial, and of the first one, called "defaults".
        comparisons: paired tests of both on the test half; empty if the best trial is the first one.
    """

    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    result: Any = None
    trainer: Trainer | None = None
    metric: str = ""
    test: list[Result] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """The trials, the results on the test half, and the paired tests."""
        test = [
            {
                "settings": one.vectors,
                "set": f"{one.set} ({one.half})",
                "measure": " of ".join(filter(None, (one.measure, one.method))),
                "value": f"none: {one.reason}" if one.value is None else one.value,
                "low": one.low,
                "high": one.high,
                "items": f"{one.covered} of {one.total}",
            }
            for one in self.test
        ]
        comparisons = [
            {
                "set": f"{one.set} ({one.half})",
                "measure": one.measure,
                "settings": f"{one.first} - {one.second}",
                "difference": one.difference,
                "low": one.low,
                "high": one.high,
                "p": one.p,
                "shared items": f"{one.items} of {one.total}",
                "test": one.test,
            }
            for one in self.comparisons
        ]
        note = f"best by {self.metric}: trial {self.best.number}" if self.best else "no trial succeeded"
        return [
            ResultTable(self.trial_rows(), columns=argument_texts(Trial), notes=[note]),
            ResultTable(test, columns=Scores.columns),
            ResultTable(comparisons, columns=Comparisons.columns),
        ]

    def trial_rows(self, *, with_seconds: bool = True) -> list[dict[str, Any]]:
        """The trials as rows, with the settings and details of all trials as columns."""
        settings = dict.fromkeys(name for one in self.trials for name in one.settings)
        details = dict.fromkeys(name for one in self.trials for name in one.details)
        return [
            {
                "trial": trial.number,
                "score": trial.score,
                "state": "best" if trial is self.best else describe_state(trial),
                **({"seconds": round(trial.seconds, 2)} if with_seconds else {}),
                **{name: trial.settings.get(name) for name in settings},
                **{name: trial.details.get(name) for name in details},
            }
            for trial in self.trials
        ]


def describe_state(trial: Trial) -> str:
    """The state of a trial, with the epoch after which it was ended, or why it failed."""
    if trial.state == "halved":
        return f"ended after epoch {max(trial.epoch_scores)}"
    return f"failed: {trial.reason}" if trial.state == "failed" else trial.state


FORMAT_VERSION = 1
STUDY, TRIALS = "study.json", "trials.jsonl"
BEST, DEFAULTS = "best", "defaults"
REPORT, TABLE, PICTURE = "report.md", "trials.tsv", "trials.svg"
QUANTISED = ".ftz"
FILES = {STUDY, TRIALS, REPORT, TABLE, PICTURE, *(name + end for name in (BEST, DEFAULTS) for end in ("", QUANTISED))}


@dataclass
class StudyFolder:
    """The folder of a search.

    Arguments:
        study: what identifies the search, as JSON values: only a search with the same continues it.
        is_new: whether it was made for this search.
    """

    path: Path
    study: dict[str, Any]
    is_new: bool = False

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], study: dict[str, Any], *, resume: bool, force: bool
    ) -> "tuple[StudyFolder, list[Trial]]":
        """The folder and its trials; a new folder, unless `resume` finds one.

        Raises:
            OutputError: there is a folder already, it belongs to another search, or it cannot be written.
            FormatError: a file in it is broken.
        """
        is_resumed = cls.check(path, resume=resume, force=force)
        folder = cls(Path(path), to_jsonable(study), is_new=not Path(path).exists())
        if is_resumed:
            old, new = cls.open(path).study, folder.study
            for name in dict.fromkeys([*new, *old]):
                if old.get(name) != new.get(name):
                    values = f"{name} was {old.get(name)!r:.200}, and is {new.get(name)!r:.200}"
                    raise OutputError(f"{path} holds another search: {values}; choose another folder")
            return folder, folder.read_trials()
        if folder.path.is_dir():
            for name in FILES & {entry.name for entry in folder.path.iterdir()}:
                remove(folder.path / name)
        content = {"format_version": FORMAT_VERSION, "study": folder.study}
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {folder.path}: {error.strerror or error}") from error
        write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", folder.path / STUDY)
        return folder, []

    @classmethod
    def check(cls, path: str | os.PathLike[str], *, resume: bool, force: bool) -> bool:
        """Whether `resume` finds a folder; refuses one that exists otherwise, as `create` does."""
        check_local(path, "folder of a search")
        is_resumed = resume and (Path(path) / STUDY).is_file()
        check_own_folder(path, STUDY, FILES, "folder of a search", force=force or is_resumed)
        return is_resumed

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "StudyFolder":
        """The folder of an earlier search."""
        content = read_versioned(Path(path) / STUDY, FORMAT_VERSION)
        check_fields(Path(path) / STUDY, content, {"study": dict})
        return cls(Path(path), content["study"])

    @contextmanager
    def removed_without_result(self) -> Iterator[None]:
        """Remove a new folder if an error ends the search before there is a result, so that it can be repeated."""
        try:
            yield
        except BaseException:
            with suppress(OSError):
                if self.is_new and {entry.name for entry in self.path.iterdir()} <= {STUDY, TRIALS}:
                    shutil.rmtree(self.path)
            raise

    @property
    def trials_path(self) -> Path:
        """The file of trials. It is appended to in place, so a link to another folder is refused."""
        return path_below(self.path, TRIALS)

    def count_trials(self) -> int:
        """The number of trials so far."""
        path = self.trials_path
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def read_trials(self) -> list[Trial]:
        """The trials so far; a line that a crash cut short is removed."""
        path = self.trials_path
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
        except OSError as error:
            raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
        names, trials = {field.name for field in fields(Trial)}, []
        for number, line in enumerate(lines[:-1], 1):
            try:
                value = json.loads(line)
                epoch_scores = {int(epoch): score for epoch, score in value.pop("epoch_scores").items()}
                trials.append(Trial(epoch_scores=epoch_scores, **value))
                is_valid = value.keys() <= names and trials[-1].number == number
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                is_valid = False
            if not is_valid:
                raise FormatError(f"{path}, line {number}: this is not a trial; remove the folder and start again")
        if lines[-1]:
            write_text(b"".join(line + b"\n" for line in lines[:-1]).decode(), path)
        return trials

    def add(self, trial: Trial) -> None:
        """Write a trial, at once."""
        line = json.dumps(to_jsonable(asdict(trial)), ensure_ascii=False) + "\n"
        try:
            with self.trials_path.open("a", encoding="utf-8") as stream:
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {self.path / TRIALS}: {error.strerror or error}") from error

    def save(self, name: str, result: Any) -> None:
        """Save the result of a trial: a model, or a quantised classifier."""
        if isinstance(result, Model):
            result.save(self.path / name, force=True)
        else:
            result.export(self.path / (name + QUANTISED), force=True)

    def load(self, name: str) -> Any:
        """The saved result of a trial."""
        is_quantised = (self.path / (name + QUANTISED)).exists()
        return load_classifier(self.path / (name + QUANTISED)) if is_quantised else load_model(self.path / name)


def remove(path: Path) -> None:
    """Remove a file or a folder of an earlier search."""
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise OutputError(f"cannot replace {path}: {error.strerror or error}") from error

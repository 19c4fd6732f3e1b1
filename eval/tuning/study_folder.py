"""The folder of a search: what is searched and its trials, the best and the first model, and a report."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from embeddings.errors import EmbeddingsError, FormatError, OutputError
from embeddings.eval.statistics.results import Comparison, Comparisons, Result, Scores
from embeddings.models.loading import load_classifier, load_model
from embeddings.models.model import Model
from embeddings.models.model_files import check_target
from embeddings.support.docstrings import argument_texts
from embeddings.support.files import atomic_write, check_own_folder, write_rows
from embeddings.support.local_paths import check_local
from embeddings.support.output_errors import output_errors
from embeddings.support.records import check_fields, read_versioned, to_jsonable
from embeddings.support.result_table import ResultTable, TabularResult, format_number, markdown_table
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
        values: what the sampler drew, before it was rounded.
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
        note = f"best by {self.metric}: trial {self.best.number}" if self.best else "no trial succeeded"
        return [
            ResultTable(self.trial_rows(), columns=argument_texts(Trial), notes=[note]),
            Scores(self.test),
            Comparisons(self.comparisons),
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


FORMAT_VERSION = 2
STUDY, BEST, DEFAULTS = "study.json", "best", "defaults"
REPORT, TABLE = "report.md", "trials.tsv"
QUANTISED = ".ftz"
FILES = {STUDY, REPORT, TABLE, *(name + end for name in (BEST, DEFAULTS) for end in ("", QUANTISED))}


@dataclass
class StudyFolder:
    """The folder of a search.

    Arguments:
        study: what identifies the search, as JSON values: only a search with the same continues it.
        trials: those that are complete, halved or failed so far.
        is_new: whether it was made for this search.
    """

    path: Path
    study: dict[str, Any]
    trials: list[Trial] = field(default_factory=list)
    is_new: bool = False

    @classmethod
    def create(cls, path: str | os.PathLike[str], study: dict[str, Any], *, resume: bool, force: bool) -> "StudyFolder":
        """A new folder, unless `resume` finds one.

        Raises:
            OutputError: there is a folder already, it belongs to another search, or it cannot be written.
            FormatError: its record is broken.
        """
        # before the folder is made, which would make every folder look like an earlier one
        is_resumed = cls.check(path, resume=resume, force=force)
        folder = cls(Path(path), to_jsonable(study), is_new=not Path(path).exists())
        if is_resumed:
            earlier = cls.open(path)
            for name in dict.fromkeys([*folder.study, *earlier.study]):
                old, new = earlier.study.get(name), folder.study.get(name)
                if old != new:
                    values = f"{name} was {old!r:.200}, and is {new!r:.200}"
                    raise OutputError(f"{path} holds another search: {values}; choose another folder")
            return earlier
        with output_errors(folder.path, str(folder.path)):
            folder.path.mkdir(parents=True, exist_ok=True)
            for name in FILES & {entry.name for entry in folder.path.iterdir()}:
                file = folder.path / name
                shutil.rmtree(file) if file.is_dir() else file.unlink()
        folder.write()
        return folder

    @classmethod
    def check(cls, path: str | os.PathLike[str], *, resume: bool, force: bool) -> bool:
        """Whether `resume` finds a folder; refuses one that exists otherwise, as `create` does."""
        check_local(path, "folder of a search")
        is_resumed = resume and (Path(path) / STUDY).is_file()
        check_own_folder(path, STUDY, FILES, "folder of a search", force=force or is_resumed)
        for model in (Path(path) / name for name in (BEST, DEFAULTS)):
            if model.exists():
                check_target(model, force=True)
        return is_resumed

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "StudyFolder":
        """The folder of an earlier search."""
        file = Path(path) / STUDY
        content = read_versioned(file, FORMAT_VERSION)
        check_fields(file, content, {"study": dict, "trials": list})
        trials = []
        try:
            for value in content["trials"]:
                epoch_scores = {int(epoch): score for epoch, score in value.pop("epoch_scores").items()}
                trials.append(Trial(epoch_scores=epoch_scores, **value))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FormatError(f"{file} is broken: {error}; remove the folder and start again") from None
        return cls(Path(path), content["study"], trials)

    def write(self) -> None:
        """Write the record."""
        content = {"format_version": FORMAT_VERSION, "study": self.study, "trials": list(map(asdict, self.trials))}
        write_text(json.dumps(to_jsonable(content), indent=1, ensure_ascii=False) + "\n", self.path / STUDY)

    def add(self, trial: Trial) -> None:
        """Write a trial, at once."""
        self.trials.append(trial)
        self.write()

    @contextmanager
    def removed_without_result(self) -> Iterator[None]:
        """Remove a new folder if an error ends the search before there is a result, so that it can be repeated."""
        try:
            yield
        except BaseException:
            with suppress(OSError):
                # only what this search has made: a folder that was there, or a saved model, stays
                if self.is_new and {entry.name for entry in self.path.iterdir()} <= {STUDY}:
                    shutil.rmtree(self.path)
            raise

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


SCORES = ("score", "value", "low", "high", "difference", "p")  # columns


def write_report(folder: StudyFolder, tuning: Tuning, command: str | None = None) -> None:
    """Write the trials as a table and the report of a search into its folder."""
    rows = tuning.trial_rows()
    write_rows(rows[0], rows, folder.path / TABLE, force=True)
    assert tuning.best is not None
    study = folder.study
    states = [trial.state for trial in tuning.trials]
    counts = f"{len(states)} trials of `{study['trainer']}`: {states.count('complete')} complete, "
    counts += f"{states.count('halved')} ended early, {states.count('failed')} failed"
    ranges = ", ".join(f"{name} {values}" for name, values in study["vary"].items())
    lines = [f"{counts}; seed {study['seed']}, threads {study['threads']}.", ""]
    lines += [f"Varied: {ranges}. Scored by: {tuning.metric}. Best: trial {tuning.best.number}.", ""]
    if tuning.is_interrupted:
        lines += ["The search was interrupted, so nothing was scored on the test half yet.", ""]
    elif not tuning.comparisons and tuning.best.number == 1:
        lines += ["No trial was better than the given settings.", ""]
    for table in tuning.tables[1:]:
        lines += [*score_table(list(map(table.shown, table))), ""] if table else []
    if command is not None:
        lines += ["The command that trains the best settings:", "", "```sh", command, "```", ""]
    lines += [*score_table(tuning.trial_rows(with_seconds=False)), ""]
    write_text("\n".join(lines), folder.path / REPORT)


def write_text(text: str, path: Path) -> None:
    """Write a text file, replacing an older one."""
    with atomic_write(path, force=True) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def score_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows as a table in Markdown; scores have four decimals."""
    cells = (
        [format_number(value, ".4f") if name in SCORES or value is None else str(value) for name, value in row.items()]
        for row in rows
    )
    return markdown_table(list(rows[0]), cells)

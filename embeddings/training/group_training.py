"""Training of a group of models, which differ in their random seed."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from embeddings.corpora.corpus import Corpus
from embeddings.errors import OutputError, SettingError
from embeddings.models.model_files import GROUP_JSON
from embeddings.models.model_group import ModelGroup
from embeddings.support.files import check_output
from embeddings.support.progress_display import ProgressOption
from embeddings.support.remote.address import is_remote
from embeddings.training.checkpoints import differences
from embeddings.training.run_options import RunOptions, combine
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import as_corpus, check_threads_and_seed

PARTS = re.compile(rf"{re.escape(GROUP_JSON)}|seed-\d+(\.checkpoints)?")  # names in the folder of a group


def train_group(
    trainer: Trainer, corpus: Corpus | str | os.PathLike[str] | Iterable[Any], out: str | os.PathLike[str], *,
    seeds: Sequence[int] = (1, 2, 3), threads: int | None = None, progress: ProgressOption = None,
    run_options: RunOptions | None = None, resume: bool = False, force: bool = False,
) -> ModelGroup:  # fmt: skip
    """Train a model for each random seed; the text is encoded once, and each model is saved when it is finished.

        group = em.training.train_group(em.SkipGram(dim=100), "text.txt", "group", seeds=(1, 2, 3))
        em.evaluate(group, similarity="wordsim353")

    Arguments:
        trainer: the trainer, such as `em.SkipGram(dim=100)`.
        corpus, threads, progress, run_options: as for `Trainer.train`. Each run has checkpoints of its own, next to its
            model, as often as the options say.
        out: the folder.
        seeds: the random seed of each run.
        resume: keep the finished runs of an existing group, and train those that are missing.
        force: replace an existing group.

    Raises:
        SettingError: the seeds are not distinct whole numbers, or as `Trainer.train`.
        OutputError: the folder exists, is not that of a group, or its runs have other settings or another text.
        CorpusError, CheckpointError, TrainingError, Interrupted: as `Trainer.train`.
    """
    options, text = combine(run_options), as_corpus(corpus, trainer)
    group = open_group(out, trainer, text, seeds, threads, options, resume=resume, force=force)
    for seed, path in group.train_missing():
        one = options
        if (checkpoints := options.checkpoints) is not None:
            own = replace(checkpoints, path=f"{path}.checkpoints", force=checkpoints.force or force)
            one = replace(options, checkpoints=own, resume=resume or options.resume)
        trainer.train(text, threads=threads, seed=seed, progress=progress, run_options=one).save(path, force=True)
        if one.checkpoints is not None:
            one.checkpoints.remove_all()
    return group


def open_group(
    out: str | os.PathLike[str], trainer: Trainer, text: Corpus, seeds: Sequence[int], threads: int | None,
    options: RunOptions, *, resume: bool, force: bool,
) -> ModelGroup:  # fmt: skip
    """A new group, or with `resume` the existing one of these runs; checks everything, encodes the text, and writes it.

    The checkpoints of the options are not checked.
    """
    if is_remote(out):
        raise OutputError(f"a group of models requires a local folder, got {out}")
    folder = check_output(out, force=force or resume)
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    if folder.exists() and (GROUP_JSON not in names or not all(map(PARTS.fullmatch, names))):
        raise OutputError(f"{folder} is not replaced: it is not a group of models, or has files of others")
    if not all(type(seed) is int for seed in seeds) or not 0 < len(seeds) == len(set(seeds)):
        raise SettingError(f"seeds must be distinct whole numbers, such as (1, 2, 3), got {seeds!r:.80}")
    numbers = [check_threads_and_seed(threads, seed, trainer) for seed in seeds]
    replace(options, checkpoints=None, resume=False).check(trainer)
    run = options.fingerprint(trainer, *numbers[0])
    del run["seed"]
    if options.cluster is None:
        run["corpus"] = options.encode(text, threads).fingerprint
    group = ModelGroup(folder, run, list(seeds))
    old = ModelGroup.load(folder) if folder.exists() else group
    if resume:
        if changes := list(differences(old.run, run)):
            raise OutputError(f"cannot resume {folder}, whose runs differ: {'; '.join(changes)}")
        group = replace(group, seeds=sorted({*seeds, *old.seeds}), finished=old.finished)
    for seed in set(old.seeds) - set(group.seeds):
        shutil.rmtree(group.path(seed), ignore_errors=True)
    folder.mkdir(exist_ok=True)
    group.write()
    return group

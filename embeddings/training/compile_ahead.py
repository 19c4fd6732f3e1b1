"""Compiling the kernels of a run in a second process while its text is read.

The kernels are compiled for an encoded text of a few words, which has the types of any other. The first stage compiles
what the trainer's plan needs, the second its kernel and, unless the text is read by then, what reads blocks of words.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np

from embeddings.compilation.compile_monitor import CompilationNeeded, monitor
from embeddings.compilation.compile_process import CompileProcess, Work, can_compile_in_fork
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.text_pairs import PAIR_SIDES
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.separate_arrays import read_only
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.support.arrow import to_string_array
from embeddings.training.document_trainer import DocumentInferencer
from embeddings.training.progress import Tally
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker

WORDS = "abcdefgh"
COUNT = 1000  # of each word, so that none is too rare
DIM, BUCKETS = 8, 100  # in place of settings that make tables large


def training_work(trainer: Trainer) -> Work | None:
    """The work of `compiling` for a trainer; None if all is compiled, or if `compiling` cannot do it."""

    def work(process: CompileProcess | None) -> None:
        has_tags = trainer.reads_labels or trainer.reads_contexts
        encoded = cast(EncodedCorpus, SmallText(has_tags, trainer.reads_pairs, trainer.reads_vectors))
        data = TrainingData(with_small_tables(trainer), encoded, encoded.vocabulary, 1, 1, None)
        plan = data.trainer.plan(data)
        if process is not None:
            process.end_stage()
        if plan.vocabulary is not None:
            data = replace(data, vocabulary=plan.vocabulary)
        worker = Worker(data, plan, plan.allocate(data.seed), Tally(1, data.schedule, 1), 0)
        worker.compile_kernel()
        if process is None or not process.is_awaited[0]:
            worker.compile_stream()

    return work_if_needed(type(trainer).__module__, work)


def inference_work(models: ConcatenatedModels) -> Work | None:
    """The work of `compiling` for inference with models; None if all is compiled, or if `compiling` cannot do it."""
    inferencers = [infer for infer in models.inferencers if isinstance(infer, DocumentInferencer)]

    def work(process: CompileProcess | None) -> None:
        for infer in inferencers:
            infer.infer_documents(cast(EncodedCorpus, SmallText()), "blocks", 1, 1, 1, None)

    return work_if_needed(type(inferencers[0].settings).__module__, work) if inferencers else None


def work_if_needed(module: str, work: Work) -> Work | None:
    """The work, if it would compile anything that is not in the cache, and a second process can do it."""
    if not can_compile_in_fork():
        return None
    try:
        with monitor.no_compilation():
            work(None)
    except CompilationNeeded:
        monitor.announce(module)
        return work
    except Exception:  # the settings do not fit the small text, so kernels are compiled when they are used
        return None
    return None


def with_small_tables(trainer: Trainer) -> Trainer:
    """The trainer with settings that need little memory and the same kernels."""
    names = {field.name for field in fields(trainer)}
    sizes: dict[str, Any] = {"dim": DIM} if "dim" in names else {}
    if getattr(trainer, "buckets", None):
        sizes["buckets"] = BUCKETS
    for name in ("cutoffs", "word_vectors", "guide"):  # they may exceed this vocabulary, or have none of its words
        if getattr(trainer, name, None):
            sizes[name] = None
    return replace(trainer, **sizes)


@dataclass
class SmallText:
    """The part of an `EncodedCorpus` that trainers read, for a text with two documents of one line each.

    Texts with vectors have one word each.
    """

    has_labels: bool = False
    has_pairs: bool = False
    has_vectors: bool = False
    weights = None

    def __post_init__(self) -> None:
        ids = list(range(len(WORDS))) * 2
        self.ids = read_only(np.array(ids, np.int32))
        self.sentences = read_only(np.array([0, len(WORDS), len(ids)], np.int64))
        self.documents = read_only(np.array([0, 1, 2], np.int64))
        self.vocabulary = Vocabulary(list(WORDS), np.full(len(WORDS), COUNT))
        self.tags = to_string_array(["a", "b"]) if self.has_labels else None
        if self.has_pairs:
            self.documents, self.tags = read_only(np.array([0, 2], np.int64)), None
        self.text_vectors = None
        if self.has_vectors:
            self.sentences = self.documents = read_only(np.arange(len(ids) + 1))
            self.text_vectors = read_only(np.ones((len(ids), DIM), np.float16))
        self.phrases, self.fingerprint, self.max_undercount = None, "", 0
        settings = {"labels": {"prefix": ""}} if self.has_labels else {}
        self.meta = {"has_items": False, "settings": settings, "documents": 2, "fixed_vocabulary": False}
        if self.has_pairs:
            self.meta[PAIR_SIDES] = 2

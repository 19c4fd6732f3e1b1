"""One tool, one job, in a process of its own: `python -m embeddings.eval.benchmark.peers TOOL JOB`.

Each tool is one function from a job to saved vectors that stops the clock around its training. The last line on
standard output says in JSON what the clock saw.
"""

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from embeddings.eval.benchmark.job import Job
from embeddings.eval.benchmark.tools import fasttext_settings, gensim_settings


@dataclass
class Seconds:
    """CPU seconds of this process (user and system, all threads), and wall seconds."""

    cpu: float = 0.0
    wall: float = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Add what the block takes."""
        cpu, wall = cpu_seconds(), perf_counter()
        yield
        self.cpu += cpu_seconds() - cpu
        self.wall += perf_counter() - wall


@dataclass
class Clock:
    """What a tool's function tells: the time of training, what is no part of its work, and the words it read.

    aside: time spent only to measure; the parent takes it off the whole. words: those that training says it
    read, over all epochs; None if it does not say.
    """

    training: Seconds = field(default_factory=Seconds)
    aside: Seconds = field(default_factory=Seconds)
    words: int | None = None


def cpu_seconds() -> float:
    """CPU seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def embeddings(job: Job, clock: Clock) -> None:
    """Our trainer alone: the corpus is encoded before, and a toy run has loaded the kernels; nothing is saved."""
    from dataclasses import replace

    from embeddings.corpora import Corpus
    from embeddings.training.train import make_trainer

    trainer = make_trainer(job.shape.trainer, job.shape.settings)
    toy = Corpus([["a", "b"] * 50])
    replace(trainer, epochs=1, min_count=1).train(toy, threads=1)
    toy.encode().close()
    corpus = Corpus(job.text, tokenizer="whitespace", case="keep")
    corpus.encode()
    with clock.training.counted():
        model = trainer.train(corpus, threads=job.shape.threads, seed=job.seed)
    clock.words = model.record["words"]


def gensim(job: Job, clock: Clock) -> None:
    """Run gensim from a file, its fastest way; training is `train`, after `build_vocab`."""
    from gensim.models import Doc2Vec, FastText, Word2Vec

    kind = Doc2Vec if job.shape.documents else FastText if job.shape.trainer == "fasttext" else Word2Vec
    model = kind(**gensim_settings(job.shape), seed=job.seed)
    model.build_vocab(corpus_file=job.text)
    total = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    with clock.training.counted():
        trained = model.train(corpus_file=job.text, epochs=model.epochs, **total)
    clock.words = trained[1] if trained else model.corpus_total_words * model.epochs  # Doc2Vec does not say
    if job.shape.documents:
        save_documents(model.dv.vectors, job.out)
    else:
        model.wv.save_word2vec_format(job.out, binary=True)


def save_documents(matrix: Any, out: str) -> None:
    """Vectors of documents by their numbers."""
    from embeddings.models.document_vectors import document_numbers
    from embeddings.vectors.vectors import Vectors

    Vectors(document_numbers(len(matrix)), matrix).save(out, "word2vec-binary", force=True)


def fasttext(job: Job, clock: Clock) -> None:
    """Run fastText, which counts and trains in one call: training is that call less one that trains for no epoch."""
    import fasttext
    import numpy as np
    from fasttext.FastText import EOS, unsupervised_default

    from embeddings.vectors.vectors import Vectors

    settings = fasttext_settings(job.shape)
    unsupervised_default["seed"] = job.seed  # the one setting that is no argument
    with clock.aside.counted():
        fasttext.train_unsupervised(job.text, **{**settings, "epoch": 0})
    with clock.training.counted():
        model = fasttext.train_unsupervised(job.text, **settings)
    clock.training.cpu = max(clock.training.cpu - clock.aside.cpu, 0.0)
    clock.training.wall = max(clock.training.wall - clock.aside.wall, 0.0)
    words = model.get_words(on_unicode_error="replace")
    words = [word for word in words if word != EOS]  # the end of a line, which fastText counts as a word
    Vectors(words, np.array([model.get_word_vector(word) for word in words])).save(job.out, force=True)


RUNS: dict[str, Callable[[Job, Clock], None]] = {"embeddings": embeddings, "gensim": gensim, "fasttext": fasttext}


def main(tool: str, job: str) -> None:
    """Run a job and print the clock."""
    clock = Clock()
    RUNS[tool](Job.from_json(job), clock)
    sys.stdout.write("\n" + json.dumps(asdict(clock)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

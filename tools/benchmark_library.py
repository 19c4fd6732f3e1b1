"""Runs one job of a Python library in a process of its own: `python tools/benchmark_library.py PROGRAM JOB`.

PROGRAM is the file of its description. The function of each library goes from a job to saved vectors, and times
training. The last line of standard output reports the times in JSON.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter, process_time

from benchmark_programs import PEERS, Job, Program

Seconds = dict[str, float]
NO_TIME = {"cpu": 0.0, "wall": 0.0}


@dataclass
class Clock:
    """Training time, the time spent only on measuring, and the words read over all epochs, if known."""

    training: Seconds = field(default_factory=NO_TIME.copy)
    overhead: Seconds = field(default_factory=NO_TIME.copy)  # the parent process subtracts it from the total
    words: int | None = None


@contextmanager
def timing(seconds: Seconds) -> Iterator[None]:
    """Measure CPU (user and system, all threads) and wall seconds of the block."""
    cpu, wall = process_time(), perf_counter()
    yield
    seconds.update(cpu=process_time() - cpu, wall=perf_counter() - wall)


def run_embeddings(job: Job, clock: Clock, program: Program) -> None:
    """Our trainer alone: the corpus is encoded and kernels are loaded beforehand; nothing is saved."""
    from dataclasses import replace

    from embeddings import registry
    from embeddings.corpora import Corpus

    trainer = registry.create("trainer", job.config.trainer, job.config.settings)
    toy = Corpus([["a", "b"] * 50])
    replace(trainer, epochs=1, min_count=1).train(toy, threads=1)
    toy.encode().close()
    corpus = Corpus(job.text_path, tokenizer="whitespace", case="keep")
    corpus.encode()
    with timing(clock.training):
        model = trainer.train(corpus, threads=job.config.threads, seed=job.seed)
    clock.words = model.record["words"]


def run_gensim(job: Job, clock: Clock, program: Program = PEERS[0]) -> None:
    """Run gensim from a file, its fastest way; training is `train`, after `build_vocab`."""
    from gensim.models import Doc2Vec, FastText, Word2Vec

    has_documents = job.config.has_documents
    model_class = Doc2Vec if has_documents else FastText if job.config.trainer == "fasttext" else Word2Vec
    model = model_class(**program.arguments_of(job))
    model.build_vocab(corpus_file=job.text_path)
    total = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    with timing(clock.training):
        counts = model.train(corpus_file=job.text_path, epochs=model.epochs, **total)
    clock.words = counts[1] if counts else model.corpus_total_words * model.epochs  # Doc2Vec returns nothing
    if has_documents:
        from embeddings.models.document_vectors import document_numbers
        from embeddings.vectors.vectors import Vectors

        matrix = model.dv.vectors
        Vectors(document_numbers(len(matrix)), matrix).save(job.out_path, "word2vec-binary", force=True)
    else:
        model.wv.save_word2vec_format(job.out_path, binary=True)


def run_fasttext(job: Job, clock: Clock, program: Program) -> None:
    """Run fastText, which counts and trains in one call: training is that call minus one with zero epochs."""
    import fasttext
    import numpy as np
    from fasttext.FastText import EOS, unsupervised_default

    from embeddings.vectors.vectors import Vectors

    settings = program.arguments_of(job)
    settings["t"] = settings["t"] or 1.0  # by t = 0 fastText means that no word is kept
    unsupervised_default["seed"] = job.seed  # the only setting that is not an argument
    with timing(clock.overhead):
        fasttext.train_unsupervised(job.text_path, **{**settings, "epoch": 0})
    with timing(clock.training):
        model = fasttext.train_unsupervised(job.text_path, **settings)
    for unit, seconds in clock.overhead.items():
        clock.training[unit] = max(clock.training[unit] - seconds, 0.0)
    words = [word for word in model.get_words(on_unicode_error="replace") if word != EOS]  # EOS: the end of a line
    Vectors(words, np.array([model.get_word_vector(word) for word in words])).save(job.out_path, force=True)


if __name__ == "__main__":
    clock, program = Clock(), Program.read(sys.argv[1])
    runners = {"embeddings": run_embeddings, "gensim": run_gensim, "fasttext": run_fasttext}
    runners[program.module](Job.from_json(sys.argv[2]), clock, program)
    sys.stdout.write("\n" + json.dumps(asdict(clock)) + "\n")

"""Runs one job of a Python library in a process of its own: `python tools/benchmark_library.py PROGRAM JOB`.

PROGRAM is the file of its description. The function of each library goes from a job to saved vectors, and times
training. The last line of standard output is JSON: the times of `training`, the `words` read over all epochs, and the
`overhead` of measuring, where there is one.
"""

import json
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

from benchmark_programs import Job, Program


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its CPU (user and system, all threads) and wall seconds."""
    cpu, wall = process_time(), perf_counter()
    result = work()
    return result, {"cpu": process_time() - cpu, "wall": perf_counter() - wall}


def run_embeddings(job: Job, program: Program) -> dict[str, Any]:
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


if __name__ == "__main__":
    program = Program.read(sys.argv[1])
    runners = {"embeddings": run_embeddings, "gensim": run_gensim, "fasttext": run_fasttext}
    figures = runners[program.module](Job.from_json(sys.argv[2]), program)
    sys.stdout.write("\n" + json.dumps(figures) + "\n")

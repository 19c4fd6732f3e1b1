"""What threads gain for each trainer, and what the machine itself allows."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import embeddings as em
from embeddings.indexes.index import parse_spec
from embeddings.support.system import available_threads
from studies.grid import Grid, take_turns, timed

WORK = {  # lines of the text that a trainer learns from, and epochs, so that a run takes a few seconds
    "skipgram": (16000, 1), "cbow": (16000, 2), "fasttext": (8000, 1), "structured-skipgram": (8000, 1),
    "directional-skipgram": (16000, 1), "continuous-window": (8000, 1), "paragraph-dbow": (16000, 4),
    "paragraph-dm": (16000, 1),
}  # fmt: skip


def learn(trainer: str, epochs: int, threads: int, text: Path, barrier: Any = None) -> dict[str, float]:
    """CPU and wall seconds of learning from an encoded text, if given as soon as all processes are ready."""
    name, settings = parse_spec(trainer, group="trainer")
    corpus = em.Corpus(text, tokenizer="whitespace")
    corpus.encode()
    if barrier is not None:
        barrier.wait()
    own = {"epochs": epochs, "subsample": 1e-4, **settings}
    return timed(lambda: em.train(name, corpus, threads=threads, seed=1, **own))


class Threads(Grid):
    """Measures what threads gain for each trainer, beside processes that share nothing.

    Each --trainer NAME[:KEY=VALUE,...] learns from a part of --text with one thread, with several threads, which share
    their tables, and with as many processes, each of which learns from its share of the lines: what the machine itself
    allows at that moment. Lines are documents. Reading and compilation are not timed. All variants of a trainer take
    turns.
    """

    results = "threads/scaling"
    keys = ("trainer",)
    rows = ("trainer", "variant")
    columns: ClassVar = {"CPU s": ".2f", "wall s": ".2f"}
    values = ("variant", "round", "measure", "value")
    packages = ("numba", "numpy")
    defaults: ClassVar = {"text": str, "trainer": [*WORK], "threads": 0, "lines": 0, "rounds": 3}

    def measure(self, trainer: str) -> Iterator[Sequence[Any]]:
        """CPU and wall seconds of each variant."""
        options = self.options
        number = options.threads or max(available_threads(), 2)
        size, epochs = WORK.get(parse_spec(trainer, group="trainer")[0], (4000, 1))
        with Path(options.text).open(encoding="utf-8") as source:
            lines = list(islice(source, options.lines or size))
        parts = [lines, *(lines[share::number] for share in range(number))]
        paths = [self.folder / f"{len(lines)}-{share}.txt" for share in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_text("".join(part), encoding="utf-8")
        context = get_context("spawn")
        with ProcessPoolExecutor(number, context) as pool, context.Manager() as manager:

            def run_processes() -> dict[str, float]:
                share = partial(learn, trainer, epochs, 1, barrier=manager.Barrier(number))
                times = list(pool.map(share, paths[1:]))
                return {"CPU s": sum(one["CPU s"] for one in times), "wall s": max(one["wall s"] for one in times)}

            runs = {
                "1 thread": partial(learn, trainer, epochs, 1, paths[0]),
                f"{number} threads": partial(learn, trainer, epochs, number, paths[0]),
                f"{number} processes": run_processes,
            }
            yield from take_turns(runs, options.rounds)

"""Times the commands that show evidence and confidence, each in a process of its own, and three pairs with `explain`.

python tools/evidence_timings.py CORPUS RESULTS [--runs N] [--resamples N]

Trains a model of CORPUS and its replicates in a temporary folder, which encodes the text, and runs each command N times
afterwards. RESULTS gets timings.md, with the fastest run of each command and the time that `explain` itself takes in
Python, and explain.md with the contexts that three pairs of words share.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import embeddings as em
from embeddings.analysis.explanation import Explanation
from embeddings.eval.machine import processor

PAIRS = (("music", "musical"), ("war", "battle"), ("river", "lake"))
TOP = 8


def commands(corpus: str, folder: Path) -> Iterator[list[str]]:
    """The commands to time."""
    model, replicates = str(folder / "model"), str(folder / "replicates")
    yield ["concordance", corpus, "music", "--lines", "5", "--quiet"]
    for pair in PAIRS:
        yield ["explain", model, corpus, *pair, "--quiet"]
    yield ["neighbours", model, "music"]
    yield ["neighbours", model, "music", "--confidence", replicates]
    yield ["similarity", model, "music", "musical", "art", "--confidence", replicates]
    yield ["analogy", model, "man", "king", "woman", "--confidence", replicates]


def run(arguments: Sequence[str]) -> float:
    """Run a command and return its seconds, with the start of Python."""
    start = perf_counter()
    subprocess.run([sys.executable, "-m", "embeddings", *arguments], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def explanations(model: Path, corpus: str) -> Iterator[tuple[float, Explanation]]:
    """The evidence for each pair, with its seconds in a program that has read the model and the text."""
    vectors, text = em.load_model(model), em.Corpus(corpus)
    em.explain(vectors, text, "first", "second")  # reads the text
    for pair in PAIRS:
        start = perf_counter()
        evidence = em.explain(vectors, text, *pair, top=TOP)
        yield perf_counter() - start, evidence


def context_table(evidence: Explanation) -> list[str]:
    """The contexts that a pair shares, as a table."""
    figures = f"cosine {evidence.cosine:.2f}, cosine of contexts {evidence.context_cosine:.2f}, together "
    return [
        f"`{evidence.word}` and `{evidence.other}`: {figures}{evidence.joint_count:,} times, {evidence.n_contexts:,} "
        "shared contexts.",
        "",
        f"| context | share | near {evidence.word} | near {evidence.other} |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {one.context} | {one.share:.3f} | {one.count:,} | {one.other_count:,} |" for one in evidence.contexts),
        "",
    ]


def main(arguments: Sequence[str]) -> None:
    """Train, time and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("results", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=4, help="of the replicates")
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, replicates = str(folder / "model"), str(folder / "replicates")
        train = ["train", "skipgram", options.corpus, "-o", model, "--dim", "50", "--epochs", "3", "--quiet"]
        rows.append((train, run(train)))
        sizes = ["--resamples", str(options.resamples), "--seeds", "2", "--quiet"]
        rows.append((one := ["stability", model, options.corpus, "-o", replicates, *sizes], run(one)))
        rows += [(one, min(run(one) for _ in range(options.runs))) for one in commands(options.corpus, folder)]
        evidence = list(explanations(folder / "model", options.corpus))
        shown = [
            " ".join(one).replace(str(folder) + "/", "").replace(options.corpus, "CORPUS") for one, _ in rows
        ]  # fmt: skip
    table = ["| command | seconds |", "| --- | ---: |"]
    table += [f"| `{text}` | {seconds:.2f} |" for text, (_, seconds) in zip(shown, rows, strict=True)]
    table += [f"| `em.explain`, {one.word} and {one.other} | {seconds:.2f} |" for seconds, one in evidence]
    table += ["", f"Fastest of {options.runs} runs after training, with the start of Python; on {processor()}."]
    (options.results / "timings.md").write_text("\n".join(table) + "\n", encoding="utf-8")
    contexts = [line for _, one in evidence for line in context_table(one)]
    (options.results / "explain.md").write_text("\n".join(contexts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Measures the false findings of `embeddings shift` on random halves, and its findings on two real groups of documents.

python tools/usage_change_study.py random WORK NAME TEXT... [--divisions N] [--epochs N] [--dim N]
python tools/usage_change_study.py groups RESULTS NAME FIRST SECOND [--permutations N] [--epochs N] [--dim N]
    [--piece-words N] [--lines N]
python tools/usage_change_study.py table WORK RESULTS

`random` divides the documents of a corpus into random halves, N times, and measures how far words change between them;
divisions that are in the folder WORK are skipped. `table` treats each division as the observed one and others, chosen
at random, as the random ones, and counts the words that are called changed: every one of them is a false finding.
`groups` compares two texts and writes the findings to RESULTS. A table (.tsv.zst) has its text in the last column.
With --piece-words, texts are cut into documents of about N words.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import embeddings as em
from embeddings.analysis.usage_change import (
    DEFAULT_FDR,
    DEFAULT_OCCURRENCES,
    DEFAULT_PERMUTATIONS,
    DocumentGroups,
    GroupTrainer,
    compare_changes,
    compared_rows,
    distances,
)
from embeddings.corpora.reading.compression import open_decompressed

HEADS = ("corpus", "documents", "words", "divisions", "with findings", "findings", "share of p <= 0.05")
WORDS_SHOWN, WORDS_WITH_LINES = 10, 3


def read_documents(path: str, piece_words: int) -> list[str]:
    """The texts in the last column of a table, or pieces of a text with about as many words each."""
    with open_decompressed(Path(path)) as file:
        lines = file.read().decode("utf-8").splitlines()
    if ".tsv" in path:
        return [line.rsplit("\t", 1)[-1] for line in lines]
    ends = np.cumsum([len(line.split()) for line in lines])
    pieces: list[list[str]] = [[] for _ in range(int(ends[-1]) // piece_words + 1)]
    for line, end in zip(lines, ends.tolist(), strict=True):
        pieces[end // piece_words].append(line)
    return [" ".join(piece) for piece in pieces]


def corpus_of(paths: Sequence[str], piece_words: int) -> em.Corpus:
    """One corpus of several texts."""
    if not piece_words and not any(".tsv" in path for path in paths):
        return em.Corpus(*paths)
    return em.Corpus([text for path in paths for text in read_documents(path, piece_words)])


def measure_random(folder: Path, options: argparse.Namespace) -> None:
    """Train on random halves, and keep the changes of words."""
    folder.mkdir(parents=True, exist_ok=True)
    encoded = corpus_of(options.texts, options.piece_words).encode()
    documents = len(encoded.documents) - 1
    (folder / "documents.txt").write_text(f"{documents}\n", encoding="utf-8")
    groups = DocumentGroups(encoded, np.arange(documents) % 2)
    trainer = GroupTrainer(em.SkipGram(dim=options.dim, epochs=options.epochs), 1, 1)
    for number, division in enumerate(groups.divisions(options.divisions, trainer.seed)):
        path = folder / f"division-{number:03}.npy"
        if number == 0 or path.exists():  # the first one is not random
            continue
        pair = [trainer.train(encoded, half) for half in division]
        changes = distances(pair, compared_rows(pair[0], groups.counts, DEFAULT_OCCURRENCES))
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.save(file, changes.astype(np.float32))
        partial.replace(path)
        sys.stderr.write(f"{path}\n")


def false_findings(folder: Path) -> list[str]:
    """The row of a corpus: each division is tested against others."""
    changes = np.stack([np.load(path) for path in sorted(folder.glob("division-*.npy"))]).astype(np.float64)
    random, findings, small = np.random.default_rng(0), [], []
    for number in range(len(changes)):
        others = random.permutation(np.delete(np.arange(len(changes)), number))[:DEFAULT_PERMUTATIONS]
        tested = compare_changes(changes[[number, *others]])
        findings.append(int(np.sum(tested.q <= DEFAULT_FDR)))
        small.append(float(np.mean(tested.p <= 0.05)))
    documents = int((folder / "documents.txt").read_text(encoding="utf-8"))
    counts = [documents, changes.shape[1], len(changes), np.count_nonzero(findings), sum(findings)]
    return [folder.name, *(f"{count:,}" for count in counts), f"{np.mean(small):.3f}"]


def compare_groups(folder: Path, options: argparse.Namespace) -> None:
    """Compare two texts and write the words whose use differs."""
    folder.mkdir(parents=True, exist_ok=True)
    first = len(corpus_of(options.texts[:1], options.piece_words).encode().documents) - 1
    corpus = corpus_of(options.texts, options.piece_words)
    groups = (np.arange(len(corpus.encode().documents) - 1) >= first).astype(np.int64)
    result = em.compare_usage(
        corpus, groups, em.SkipGram(dim=options.dim, epochs=options.epochs), permutations=options.permutations,
        lines=options.lines, threads=1, report=lambda done, total: sys.stderr.write(f"{done} of {total}\n"),
    )  # fmt: skip
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"
    (folder / f"groups-{options.name}.json").write_text(text, encoding="utf-8")


def write_table(work: Path, folder: Path) -> None:
    """Write the tables of random halves and of real groups."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [false_findings(path) for path in sorted(work.iterdir()) if any(path.glob("division-*.npy"))]
    lines = [f"| {' | '.join(row)} |" for row in [HEADS, ["---", *["---:"] * (len(HEADS) - 1)], *rows]]
    (folder / "random-halves.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in sorted(folder.glob("groups-*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        path.with_suffix(".md").write_text(findings_table(result), encoding="utf-8")


def findings_table(result: dict[str, Any]) -> str:
    """The words that changed most, and lines of the first of them."""
    first, second = result["documents"]
    lines = [
        f"{first:,} and {second:,} documents; {result['n_changed']:,} of {result['n_words']:,} words changed (q <= "
        f"{DEFAULT_FDR}).",
        "",
        "| word | change | expected | q | occurrences | neighbours in the first | neighbours in the second |",
        "| --- | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for one in result["words"][:WORDS_SHOWN]:
        counts = " and ".join(f"{count:,}" for count in one["counts"])
        neighbours = " | ".join(", ".join(words) for words in one["neighbours"])
        numbers = f"{one['change']:.2f} | {one['expected']:.2f} | {one['q']:.4f}"
        lines.append(f"| {one['word']} | {numbers} | {counts} | {neighbours} |")
    concordance = [line for one in result["words"][:WORDS_WITH_LINES] for line in one["lines"]]
    if concordance:
        lines += ["", "Lines with the first words, of both groups:", "", "```text"]
        lines += [*(f"{line['left']:>40}  {line['keyword']}  {line['right']}" for line in concordance), "```"]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Run a part of the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["random", "groups", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", help="of the corpus or the comparison; for `table` the folder of results")
    parser.add_argument("texts", nargs="*")
    for name, number in {
        "divisions": 42,
        "permutations": DEFAULT_PERMUTATIONS,
        "epochs": 3,
        "dim": 50,
        "piece-words": 0,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args(arguments)
    if options.command == "random":
        measure_random(options.folder / options.name, options)
    elif options.command == "groups":
        compare_groups(options.folder, options)
    else:
        write_table(options.folder, Path(options.name))


if __name__ == "__main__":
    main(sys.argv[1:])

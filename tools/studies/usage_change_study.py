"""False findings of `embeddings shift` on random halves, and its findings on two real groups of documents."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, ClassVar

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
from embeddings.eval.benchmark.workspace import write_text
from studies.grid import Study, beside, log, markdown

WORDS_SHOWN, WORDS_WITH_LINES = 10, 3


class RandomHalves(Study):
    """Counts the false findings of `embeddings shift` on random halves.

    The documents of --text, a corpus with a --corpus name, are divided into random halves --divisions times; divisions
    that are in the folder --work are skipped. Each division is then tested as the observed one, and others, chosen at
    random, are the random ones: every word that is called changed is a false finding. The table has all corpora of the
    folder. A table (.tsv.zst) has its text in the last column. With --piece-words, texts are cut into documents of
    about so many words.
    """

    results = "evidence/random-halves"
    defaults: ClassVar = {
        "work": str, "corpus": str, "text": [], "divisions": 42, "epochs": 3, "dim": 50, "piece_words": 0,
    }  # fmt: skip

    def prepare_page(self, out: Path) -> None:
        """Train on random halves, and keep the changes of words."""
        options = self.options
        folder = Path(options.work) / options.corpus
        folder.mkdir(parents=True, exist_ok=True)
        encoded = corpus_of(options.text, options.piece_words).encode()
        documents = len(encoded.documents) - 1
        (folder / "documents.txt").write_text(f"{documents}\n", encoding="utf-8")
        groups = DocumentGroups.of(encoded, np.arange(documents) % 2, "blocks")
        trainer = GroupTrainer(em.SkipGram(dim=options.dim, epochs=options.epochs), 1, 1)
        for number, division in enumerate(groups.divisions(options.divisions, trainer.seed)):
            path = folder / f"division-{number:03}.npy"
            if number == 0 or path.exists():  # the first one is not random
                continue
            pair = [trainer.train(groups, half) for half in division]
            changes = distances(pair, compared_rows(pair[0], groups.counts, DEFAULT_OCCURRENCES))
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.save(file, changes.astype(np.float32))
            partial.replace(path)
            log(str(path))

    def page(self, out: Path) -> str:
        """A row for each corpus."""
        folders = sorted(path for path in Path(self.options.work).iterdir() if any(path.glob("division-*.npy")))
        heads = ("corpus", "documents", "words", "divisions", "with findings", "findings", "share of p <= 0.05")
        return markdown(heads, map(false_findings, folders), names=1)


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


class Groups(Study):
    """Shows the words whose use differs between two texts, --first and --second.

    A table (.tsv.zst) has its text in the last column. With --piece-words, texts are cut into documents of about so
    many words. The findings go to the JSON file beside the table.
    """

    results = "evidence/groups"
    defaults: ClassVar = {
        "first": str, "second": str, "permutations": DEFAULT_PERMUTATIONS, "epochs": 3, "dim": 50, "piece_words": 0,
        "lines": 0,
    }  # fmt: skip

    def prepare_page(self, out: Path) -> None:
        """Compare the texts."""
        options = self.options
        first = len(corpus_of([options.first], options.piece_words).encode().documents) - 1
        corpus = corpus_of([options.first, options.second], options.piece_words)
        groups = (np.arange(len(corpus.encode().documents) - 1) >= first).astype(np.int64)
        result: Any = em.analysis.compare_usage(
            corpus, groups, em.SkipGram(dim=options.dim, epochs=options.epochs), permutations=options.permutations,
            lines=options.lines, threads=1, progress=lambda done, total: log(f"{done} of {total}"),
        )  # fmt: skip
        write_text(json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n", beside(out, ".json"))

    def page(self, out: Path) -> str:
        """The words that changed most, and lines of the first of them."""
        result = json.loads(beside(out, ".json").read_text(encoding="utf-8"))
        first, second = result["documents"]
        heads = [
            "word",
            "change",
            "expected",
            "q",
            "occurrences",
            "neighbours in the first",
            "neighbours in the second",
        ]
        rows = []
        for one in result["words"][:WORDS_SHOWN]:
            numbers = [f"{one['change']:.2f}", f"{one['expected']:.2f}", f"{one['q']:.4f}"]
            numbers.append(" and ".join(f"{count:,}" for count in one["counts"]))
            rows.append([one["word"], *numbers, *(", ".join(words) for words in one["neighbours"])])
        text = f"{first:,} and {second:,} documents; {result['n_changed']:,} of {result['n_words']:,} words changed "
        text += f"(q <= {DEFAULT_FDR}).\n\n{markdown(heads, rows, names=(0, 5, 6))}"
        lines = [line for one in result["words"][:WORDS_WITH_LINES] for line in one["lines"]]
        if lines:
            text += "\nLines with the first words, of both groups:\n\n```text\n"
            text += "".join(f"{line['left']:>40}  {line['keyword']}  {line['right']}\n" for line in lines) + "```\n"
        return text


def corpus_of(paths: Sequence[str], piece_words: int) -> em.Corpus:
    """One corpus of several texts: their documents, those in the last column of a table, or pieces of a text."""
    if not piece_words and not any(".tsv" in path for path in paths):
        return em.Corpus(*paths)
    documents: list[str] = []
    for path in paths:
        with open_decompressed(Path(path)) as file:
            lines = file.read().decode("utf-8").splitlines()
        if ".tsv" in path:
            documents += [line.rsplit("\t", 1)[-1] for line in lines]
            continue
        ends = accumulate(len(line.split()) for line in lines)
        pieces = groupby(zip(lines, ends, strict=True), key=lambda pair: pair[1] // piece_words)
        documents += [" ".join(line for line, _ in piece) for _, piece in pieces]
    return em.Corpus(documents)

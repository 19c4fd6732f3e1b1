"""Measures training on pairs of texts: CPU seconds a million pairs, here, in PyTorch and in sentence-transformers.

`python tools/text_pair_speed.py TEXT --peers PYTHON -o FILE.md` takes neighbouring sentences of TEXT, a corpus of plain
text, and the first words of each. All tools train the same model on the same pairs in batches of the same size: the
mean of word vectors, from the same initial rows, by in-batch negatives in both directions. PyTorch uses an EmbeddingBag
with sparse gradients and SparseAdam on arrays of words, sentence-transformers a StaticEmbedding, its own trainer and
its loss `MultipleNegativesSymmetricRankingLoss`. The tools take turns, each in a process of its own. PYTHON is an
interpreter with sentence-transformers, datasets and PyTorch, which is this one by default; a library that it does not
have is skipped. CPU seconds are those of training, without imports and compilation; those of sentence-transformers
include the tokenisation, which its trainer does. The score is the share of held-out left texts whose right text is the
nearest of all held-out ones. Give several learning rates of a tool by repeating its option: each has a row, so that
tools can be compared at the best rate of each.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

import embeddings as em
from embeddings.errors import OutputError
from embeddings.eval.benchmark.workspace import run, write_text
from embeddings.eval.machine import describe, environment
from embeddings.support.cosine import normalize_rows
from embeddings.support.files import check_file

OURS, TORCH, SENTENCES = "embeddings", "PyTorch, SparseAdam", "sentence-transformers"
MODULES = {TORCH: ("torch",), SENTENCES: ("sentence_transformers", "datasets")}
HEADS = ("tool", "learning rate", "CPU s a million pairs", "wall s a million pairs", "held-out accuracy", "loss")
START = """
import json, sys, time
import numpy as np
folder, batch, temperature, rate, threads, epochs = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
threads, epochs = int(threads), int(epochs)
ids, start = np.load(folder + "/ids.npy"), np.load(folder + "/start.npy")
"""
END = """
print(json.dumps(dict(seconds=seconds, cpu=cpu, loss=loss, versions=versions)))
"""
CODE = {
    OURS: """
import embeddings as em
words = em.load(folder + "/words.txt")
vocabulary = em.Vocabulary.from_counts(words.words, [1] * len(words))
settings = dict(batch_size=batch, temperature=temperature, learning_rate=rate, epochs=epochs)
trainer = em.DualEncoder(dim=start.shape[1], **settings)
options = em.RunOptions(init=em.InitFrom(words, duplicates="exact"))
def corpus(name):
    pairs = em.Corpus(folder + name, pairs=em.PairFormat(), tokenizer="whitespace", case="keep", vocabulary=vocabulary)
    pairs.encode()
    return pairs
trainer.train(corpus("/few.parquet"), threads=threads, run_options=options)
pairs = corpus("/pairs.parquet")
clock, used = time.perf_counter(), time.process_time()
model = trainer.train(pairs, threads=threads, run_options=options)
seconds, cpu = time.perf_counter() - clock, time.process_time() - used
np.save(folder + "/rows.npy", model.vectors[words.words])
loss, versions = model.record["loss_by_epoch"][-1], {}
""",
    TORCH: """
import torch
torch.set_num_threads(threads)
torch.manual_seed(1)
bag = torch.nn.EmbeddingBag(*start.shape, mode="mean", sparse=True, _weight=torch.from_numpy(start.copy()))
optimizer = torch.optim.SparseAdam(bag.parameters(), lr=rate)
pairs = torch.from_numpy(ids.astype(np.int64))
steps = epochs * -(-len(pairs) // batch)
warm_up = max(1, steps // 20)
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda n: min((n + 1) / warm_up, (steps - n) / max(steps - warm_up, 1))
)
targets, entropy = torch.arange(batch), torch.nn.functional.cross_entropy
clock, used, loss = time.perf_counter(), time.process_time(), 0.0
for epoch in range(epochs):
    total = 0.0
    for part in torch.randperm(len(pairs)).split(batch):
        left, right = (torch.nn.functional.normalize(bag(pairs[part, side])) for side in (0, 1))
        scores, target = left @ right.T / temperature, targets[: len(part)]
        value = (entropy(scores, target) + entropy(scores.T, target)) / 2
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        schedule.step()
        total += float(value.detach()) * len(part)
    loss = total / len(pairs)
seconds, cpu = time.perf_counter() - clock, time.process_time() - used
np.save(folder + "/rows.npy", bag.weight.detach().numpy())
versions = {"torch": torch.__version__}
""",
    SENTENCES: """
import torch, datasets, sentence_transformers
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.losses import MultipleNegativesSymmetricRankingLoss
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
torch.set_num_threads(threads)
datasets.disable_progress_bars()
words = json.load(open(folder + "/words.json"))
tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token=words[0]))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=start)], device="cpu")
arguments = SentenceTransformerTrainingArguments(
    output_dir=folder + "/trainer", num_train_epochs=epochs, per_device_train_batch_size=batch, learning_rate=rate,
    warmup_steps=max(1, epochs * len(ids) // batch // 20), use_cpu=True, report_to="none", save_strategy="no",
    logging_strategy="epoch", disable_tqdm=True, seed=1,
)
pairs = datasets.Dataset.from_parquet(folder + "/pairs.parquet", cache_dir=folder + "/datasets")
loss = MultipleNegativesSymmetricRankingLoss(model, scale=1 / temperature)
trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=pairs, loss=loss)
clock, used = time.perf_counter(), time.process_time()
trainer.train()
seconds, cpu = time.perf_counter() - clock, time.process_time() - used
np.save(folder + "/rows.npy", model[0].embedding.weight.detach().numpy())
loss = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry][-1]
versions = {"sentence-transformers": sentence_transformers.__version__, "torch": torch.__version__}
""",
}


def read_pairs(text: Path, count: int, words: int) -> list[tuple[list[str], list[str]]]:
    """The first words of neighbouring sentences that have this many words each."""
    pairs = em.TextPairs(text, kinds="neighbouring-sentences")
    both = ((a.lower().split(), b.lower().split()) for one in pairs for a, b in zip(one.left, one.right, strict=True))
    return list(islice(((a[:words], b[:words]) for a, b in both if min(len(a), len(b)) >= words), count))


def prepare(folder: Path, text: Path, count: int, held_out: int, words: int, dim: int) -> tuple[np.ndarray, int, int]:
    """Write the pairs and the initial rows; returns held-out pairs as words, and the numbers of others and words."""
    import pyarrow as pa
    from pyarrow import parquet

    pairs = read_pairs(text, count + held_out, words)
    if len(pairs) <= held_out:
        raise click.ClickException(f"{text} has {len(pairs):,} pairs; at least {held_out + 1:,} are required")
    numbers: dict[str, int] = {}
    rows = [[[numbers.setdefault(word, len(numbers)) for word in side] for side in pair] for pair in pairs]
    order = np.random.default_rng(1).permutation(len(pairs))
    ids = np.array(rows, np.int32)[order]
    start = 0.1 * np.random.default_rng(2).standard_normal((len(numbers), dim), dtype=np.float32)
    np.save(folder / "ids.npy", ids[held_out:])
    np.save(folder / "start.npy", start)
    em.Vectors(list(numbers), start).save(folder / "words.txt", format="arrow")
    (folder / "words.json").write_text(json.dumps(list(numbers)), encoding="utf-8")
    for name, part in (("pairs", order[held_out:]), ("few", order[held_out : held_out + 100])):
        sides = {side: [" ".join(pairs[n][place]) for n in part] for place, side in enumerate(("left", "right"))}
        parquet.write_table(pa.table(sides), folder / f"{name}.parquet")
    return ids[:held_out], len(ids) - held_out, len(numbers)


def accuracy(rows: np.ndarray, held_out: np.ndarray) -> float:
    """The share of left texts whose right text is the nearest one."""
    left, right = (normalize_rows(rows[held_out[:, side]].mean(axis=1)) for side in (0, 1))
    return float(((left @ right.T).argmax(axis=1) == np.arange(len(held_out))).mean())


def installed(python: str) -> list[str]:
    """The tools whose libraries an interpreter can import."""
    code = "import importlib.util, sys; sys.exit(None in map(importlib.util.find_spec, sys.argv[1:]))"
    return [name for name, modules in MODULES.items() if not subprocess.run([python, "-c", code, *modules]).returncode]


def measure(
    folder: Path, python: str, held_out: np.ndarray, arguments: Sequence[str], rates: dict[str, Sequence[float]],
    repeats: int,
) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:  # fmt: skip
    """A row for each tool and learning rate, and the versions of its libraries."""
    batch, temperature, threads, epochs = arguments
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
    variables |= {"OMP_NUM_THREADS": threads, "RAYON_NUM_THREADS": threads}
    trials = [(tool, rate) for tool in (OURS, *installed(python)) for rate in rates[tool]]
    runs: dict[tuple[str, float], list[tuple[dict[str, Any], float]]] = {trial: [] for trial in trials}
    for tool, rate in trials * repeats:
        interpreter = sys.executable if tool == OURS else python
        values = (batch, temperature, str(rate), threads, epochs)
        usage = run([interpreter, "-c", START + CODE[tool] + END, str(folder), *values], variables)
        if usage.code:
            raise click.ClickException(f"{tool}: {usage.error}")
        result = json.loads(usage.output[usage.output.rindex('{"seconds"') :])
        score = accuracy(np.load(folder / "rows.npy"), held_out)
        runs[tool, rate].append((result, score))
        click.echo(f"{tool}, learning rate {rate:g}: {result['cpu']:.2f} CPU s, accuracy {score:.3f}", err=True)
    pairs = len(np.load(folder / "ids.npy", mmap_mode="r")) * int(epochs) / 1e6
    for (tool, rate), each in runs.items():
        cpu, wall = (median(result[name] for result, _ in each) / pairs for name in ("cpu", "seconds"))
        score, loss = median(score for _, score in each), median(result["loss"] for result, _ in each)
        yield (tool, f"{rate:g}", f"{cpu:.1f}", f"{wall:.1f}", f"{score:.3f}", f"{loss:.3f}"), each[0][0]["versions"]


@click.command()
@click.argument("text", type=click.Path(exists=True, path_type=Path))
@click.option("--peers", default=sys.executable, help="Python with PyTorch, sentence-transformers and datasets.")
@click.option("--pairs", type=click.IntRange(1), default=100_000, show_default=True, help="Pairs to learn, at most.")
@click.option("--held-out", type=click.IntRange(1), default=2000, show_default=True)
@click.option("--words", type=click.IntRange(1), default=22, show_default=True, help="Words of each text.")
@click.option("--dim", type=click.IntRange(1), default=256, show_default=True)
@click.option("--batch-size", type=click.IntRange(2), default=1024, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Processes per tool.")
@click.option("--learning-rate", type=float, multiple=True, default=[0.05], show_default=True, help="Of embeddings.")
@click.option("--torch-rate", type=float, multiple=True, default=[0.01], show_default=True, help="Of SparseAdam.")
@click.option("--trainer-rate", type=float, multiple=True, default=[0.01], show_default=True,
              help="Of sentence-transformers.")  # fmt: skip
@click.option("-o", "--out", help="Output file of the table in Markdown.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(
    text: Path, peers: str, pairs: int, held_out: int, words: int, dim: int, batch_size: int, epochs: int, threads: int,
    repeats: int, learning_rate: Sequence[float], torch_rate: Sequence[float], trainer_rate: Sequence[float],
    out: str | None, force: bool,
) -> None:  # fmt: skip
    """Measure training on neighbouring sentences of TEXT."""
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    rates = {OURS: learning_rate, TORCH: torch_rate, SENTENCES: trainer_rate}
    with TemporaryDirectory(prefix="embeddings-text-pairs-") as name:
        folder = Path(name)
        tests, count, vocabulary = prepare(folder, text, pairs, held_out, words, dim)
        arguments = (str(batch_size), "0.03", str(threads), str(epochs))
        results = list(measure(folder, peers, tests, arguments, rates, repeats))
    rows = [row for row, _ in results]
    for row in (HEADS, *rows):
        click.echo("\t".join(row))
    if out is not None:
        machine = environment(("embeddings-toolkit", "numpy", "numba"))
        versions = machine["packages"] | dict(chain.from_iterable(each.items() for _, each in results))
        about = (
            f"{describe(machine, versions)} {count:,} pairs of {words} and {words} words, {vocabulary:,} different "
            f"words, {dim} components, batches of {batch_size:,}, {epochs} epochs, {threads} threads; medians of "
            f"{repeats} runs."
        )
        lines = [HEADS, ("---",) * len(HEADS), *rows]
        write_text("\n".join([about, "", *(f"| {' | '.join(line)} |" for line in lines)]) + "\n", Path(out))


if __name__ == "__main__":
    main()

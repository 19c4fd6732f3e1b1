"""Training on pairs of texts: CPU seconds a million pairs, here, in PyTorch and in sentence-transformers."""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.errors import SettingError
from embeddings.support.cosine import normalize_rows
from studies.grid import Grid, installed, run_command, take_turns

OURS, TORCH, SENTENCES = "embeddings", "PyTorch, SparseAdam", "sentence-transformers"
MODULES = {TORCH: ("torch",), SENTENCES: ("sentence_transformers", "datasets")}
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


class PairSpeed(Grid):
    """Measures training on neighbouring sentences of --text: CPU seconds a million pairs, here and in other libraries.

    All tools train the same model on the same pairs, the first --words of each sentence, in batches of the same size:
    the mean of word vectors, from the same initial rows, by in-batch negatives in both directions. PyTorch uses an
    EmbeddingBag with sparse gradients and SparseAdam on arrays of words, sentence-transformers a StaticEmbedding, its
    own trainer and its loss `MultipleNegativesSymmetricRankingLoss`. The tools take turns, each in a process of its
    own. --peers is an interpreter with sentence-transformers, datasets and PyTorch, by default this one; a library that
    it does not have is skipped. CPU seconds are those of training, without imports and compilation; those of
    sentence-transformers include the tokenisation, which its trainer does. The accuracy is the share of held-out left
    texts whose right text is the nearest of all held-out ones. With several learning rates each has a row, so that
    tools can be compared at the best rate of each.
    """

    results = "text-pairs/speed"
    keys = ("text",)
    rows = ("tool", "learning rate")
    values = ("tool", "learning rate", "round", "measure", "value")
    packages = ("numpy", "numba")
    columns: ClassVar = {
        "CPU s a million pairs": ".1f", "wall s a million pairs": ".1f", "held-out accuracy": ".3f", "loss": ".3f",
    }  # fmt: skip
    defaults: ClassVar = {
        "text": str, "peers": sys.executable, "pairs": 100_000, "held_out": 2000, "words": 22, "dim": 256,
        "batch_size": 1024, "temperature": 0.03, "epochs": 1, "threads": 1, "rounds": 3, "learning_rate": [0.05],
        "torch_rate": [0.01], "trainer_rate": [0.01],
    }  # fmt: skip

    def prepare(self) -> None:
        """Write the pairs and the initial rows."""
        import pyarrow as pa
        from pyarrow import parquet

        options, folder = self.options, self.folder
        pairs = read_pairs(options.text, options.pairs + options.held_out, options.words)
        if len(pairs) <= options.held_out:
            needed = f"at least {options.held_out + 1:,} are required"
            raise SettingError(f"{options.text} has {len(pairs):,} pairs; {needed}")
        numbers: dict[str, int] = {}
        rows = [[[numbers.setdefault(word, len(numbers)) for word in side] for side in pair] for pair in pairs]
        order = np.random.default_rng(1).permutation(len(pairs))
        ids, start = np.array(rows, np.int32)[order], np.random.default_rng(2)
        self.held_out, self.sizes = ids[: options.held_out], (len(ids) - options.held_out, len(numbers))
        matrix = 0.1 * start.standard_normal((len(numbers), options.dim), dtype=np.float32)
        np.save(folder / "ids.npy", ids[options.held_out :])
        np.save(folder / "start.npy", matrix)
        em.Vectors(list(numbers), matrix).save(folder / "words.txt", format="arrow")
        (folder / "words.json").write_text(json.dumps(list(numbers)), encoding="utf-8")
        rest = order[options.held_out :]
        for name, part in (("pairs", rest), ("few", rest[:100])):
            sides = {side: [" ".join(pairs[n][place]) for n in part] for place, side in enumerate(("left", "right"))}
            parquet.write_table(pa.table(sides), folder / f"{name}.parquet")

    def measure(self, text: str) -> Iterator[Sequence[Any]]:
        """Train with each tool and learning rate."""
        options, self.found = self.options, {}
        rates = {OURS: options.learning_rate, TORCH: options.torch_rate, SENTENCES: options.trainer_rate}
        tools = (OURS, *installed(options.peers, MODULES))
        runs = {(tool, f"{rate:g}"): partial(self.train, tool, rate) for tool in tools for rate in rates[tool]}
        return take_turns(runs, options.rounds, warm_up=False)

    def train(self, tool: str, rate: float) -> dict[str, float]:
        """Train with a tool in a process of its own."""
        options = self.options
        values = (options.batch_size, options.temperature, rate, options.threads, options.epochs)
        python = sys.executable if tool == OURS else options.peers
        output = run_command([python, "-c", START + CODE[tool] + END, self.folder, *values], options.threads).output
        result = json.loads(output[output.rindex('{"seconds"') :])
        self.found |= result["versions"]
        pairs = self.sizes[0] * options.epochs / 1e6
        score = accuracy(np.load(self.folder / "rows.npy"), self.held_out)
        figures = (result["cpu"] / pairs, result["seconds"] / pairs, score, result["loss"])
        return dict(zip(self.columns, figures, strict=True))

    def versions(self) -> dict[str, str]:
        """The versions of the libraries of the processes."""
        return self.found

    def about(self) -> str:
        """The pairs and the settings."""
        options, (pairs, words) = self.options, self.sizes
        return (
            f"{pairs:,} pairs of {options.words} and {options.words} words, {words:,} different words, {options.dim} "
            f"components, batches of {options.batch_size:,}, {options.epochs} epochs, {options.threads} threads; "
            f"medians of {options.rounds} runs."
        )


def read_pairs(text: str, count: int, words: int) -> list[tuple[list[str], list[str]]]:
    """The first words of neighbouring sentences that have this many words each."""
    pairs = em.TextPairs(text, kinds="neighbouring-sentences")
    both = ((a.lower().split(), b.lower().split()) for one in pairs for a, b in zip(one.left, one.right, strict=True))
    return list(islice(((a[:words], b[:words]) for a, b in both if min(len(a), len(b)) >= words), count))


def accuracy(rows: np.ndarray, held_out: np.ndarray) -> float:
    """The share of left texts whose right text is the nearest one."""
    left, right = (normalize_rows(rows[held_out[:, side]].mean(axis=1)) for side in (0, 1))
    return float(((left @ right.T).argmax(axis=1) == np.arange(len(held_out))).mean())

"""Speed of this package and of other libraries, each in a process of its own, on the same data."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from processes import EMBEDDINGS, Usage, run

import embeddings as em
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.support.cosine import normalize, normalize_rows
from studies.grid import Grid, is_installed, limits, take_turns

OURS = "embeddings"
Runs = Mapping[Any, Callable[[], Mapping[str, Any]]]


CODE = """
import json, sys, time
import numpy as np
{setup}
start, used = time.perf_counter(), time.process_time()
{work}
figures = dict(seconds=time.perf_counter() - start, cpu=time.process_time() - used)
{after}
print("\\n" + json.dumps(figures))
"""


def run_code(code: Mapping[str, str], *arguments: object, **variables: str) -> tuple[Usage, dict[str, Any]]:
    """Run and time the `work` of a library in a process of its own; returns what it used, and its `figures`."""
    usage = run([sys.executable, "-c", CODE.format(**{"after": "", **code}), *arguments], **variables)
    return usage, json.loads(usage.output.splitlines()[-1])


def reader(imports: str, read: str) -> dict[str, str]:
    """The code that reads a file and looks a word up, in memory that the process had before."""
    ready = "path, word, size = sys.argv[1:]\nimported = time.process_time()\nnp.ones(int(size), np.float32)"
    work = f"vectors = {read}\nvectors[word].sum()"
    return {"setup": f"{imports}\n{ready}", "work": work, "after": "figures['imported'] = imported"}


OWN = reader(
    "import embeddings as em, embeddings.formats, embeddings.models.model, pyarrow.compute\nembeddings.formats.names()",
    "em.load(path)",
)
GENSIM, READ_GENSIM = "from gensim.models import KeyedVectors", "KeyedVectors.load_word2vec_format(path, binary={})"
READERS = {  # the code that reads, by format and library
    "saved model": {OURS: OWN},
    "word2vec-binary": {OURS: OWN, "gensim": reader(GENSIM, READ_GENSIM.format(True))},
    "word2vec-text": {OURS: OWN, "gensim": reader(GENSIM, READ_GENSIM.format(False))},
}


class Loading(Grid):
    """Measures how long random vectors take to load, compared with gensim, and a saved model to its first lookup.

    Each reading is a process of its own, timed from after its imports to the first vector; the readers of a format take
    turns. Just before each reading the file is read once, so that it is in memory, and the process allocates and frees
    as much memory as it may need: on a virtual machine, getting fresh memory takes longer than all else.
    """

    results = "loading"
    keys = ("format",)
    rows = ("format", "library")
    values = ("library", "round", "measure", "value")
    columns: ClassVar = dict.fromkeys(("CPU s", "wall s", "CPU s with imports"), ".3f")
    packages = ("gensim", "numpy", "pyarrow")
    warm_up = False
    defaults: ClassVar = {"format": [*READERS], "words": 1_000_000, "dim": 300, "rounds": 3}
    about = (
        "{words:,} vectors of {dim} components; CPU seconds from after the imports to the first vector, and of the "
        "whole process."
    )

    def prepare(self) -> None:
        """Write the same vectors in each format."""
        words, dim = self.options.words, self.options.dim
        matrix = np.random.default_rng(1).standard_normal((words, dim), dtype=np.float32)
        counts = np.arange(words, 0, -1)
        vectors = em.Vectors([f"word{number}" for number in range(words)], matrix, counts=counts)
        model = Model("random", vectors=vectors, vocabulary=em.corpora.Vocabulary(vectors.words, counts))
        model.save(self.folder / "saved model")
        for form in ("word2vec-binary", "word2vec-text"):
            vectors.save(self.folder / form, form)

    def runs(self, form: str) -> Runs:
        """CPU and wall seconds of reading in a process of its own, and CPU seconds with imports."""
        path, options = self.folder / form, self.options

        def read(code: Mapping[str, str]) -> dict[str, float]:
            for file in filter(Path.is_file, [path, *path.rglob("*")]):
                file.read_bytes()  # so that it is in memory
            size = 2 * options.words * options.dim
            figures = run_code(code, path, f"word{options.words - 1}", size)[1]
            seconds = figures["cpu"], figures["seconds"], figures["imported"] + figures["cpu"]
            return dict(zip(self.columns, seconds, strict=True))

        return {library: partial(read, code) for library, code in READERS[form].items()}


SETUP = """
import pyarrow as pa, pyarrow.parquet as pq
folder, texts, out, threads = sys.argv[1:]
"""
WORK = """
table = pq.read_table(texts)
vectors = {}
column = pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(vectors, np.float32).ravel()), vectors.shape[1])
pq.write_table(table.append_column("vector", column), out, use_dictionary=["id", "body"], compression="none")
"""
PEERS = {
    "sentence-transformers": {
        "setup": SETUP + "import torch, sentence_transformers\ntorch.set_num_threads(int(threads))\n"
        "model = sentence_transformers.SentenceTransformer(folder, device='cpu')",
        "work": WORK.format("model.encode(table['body'].to_pylist(), batch_size=1024, convert_to_numpy=True)"),
    },
    "model2vec": {
        "setup": SETUP + "import model2vec\nmodel = model2vec.StaticModel.from_pretrained(folder)",
        "work": WORK.format("model.encode(table['body'].to_pylist())"),
    },
}
MIN_LENGTH = 60  # characters of a paragraph


class TextVectors(Grid):
    """Measures how fast texts of a Parquet file become vectors, here and in sentence-transformers and model2vec.

    The texts are the first paragraphs of --text, a corpus of plain text; words have random vectors. Each tool reads the
    file and writes a Parquet file with the vectors, in a process of its own; the tools take turns; a library that is
    not installed is skipped. The table has wall and CPU seconds of the whole process, seconds of the conversion alone,
    without imports and the reading of the model, peak memory, and how vectors differ from ours.
    """

    results = "text-vectors/speed"
    keys = ("text",)
    rows = ("tool",)
    columns: ClassVar = {
        "wall s": ".2f", "CPU s": ".2f", "conversion s": ".2f", "texts/s": ",.0f", "peak MB": ",.0f",
        "lowest cosine": ".6f", "vectors below 0.99999": ".3%",
    }  # fmt: skip
    values = ("tool", "round", "measure", "value")
    packages = ("numpy", "numba", "pyarrow", "sentence-transformers", "torch", "model2vec")
    defaults: ClassVar = {
        "text": str, "texts": 100_000, "dim": 256, "threads": 2, "rounds": 3,
    }  # fmt: skip
    about = (
        "{texts:,} paragraphs, {words:,} words with {components} components, {threads} threads; medians of {rounds} "
        "runs. Conversion: from reading the texts to the written file."
    )

    def prepare(self) -> None:
        """Write the texts, and the vectors in the format of each tool."""
        import pyarrow as pa
        from pyarrow import parquet

        options = self.options
        with open_decompressed(Path(options.text)) as stream:
            lines = (line.decode().strip() for line in stream)
            paragraphs = list(islice((line for line in lines if len(line) >= MIN_LENGTH), options.texts))
        table = pa.table({"id": range(len(paragraphs)), "body": paragraphs})
        parquet.write_table(table, self.folder / "texts.parquet")
        with em.Corpus(paragraphs).encode() as encoded:
            vocabulary = encoded.vocabulary.select(min_count=min(5, int(encoded.vocabulary.counts[0])))
        matrix = np.random.default_rng(1).standard_normal((len(vocabulary), options.dim), dtype=np.float32)
        vectors = em.Vectors(vocabulary.words, matrix, counts=vocabulary.counts)
        self.facts = {"words": len(vectors), "components": vectors.dim}
        for tool in (OURS, *PEERS):
            vectors.save(self.folder / tool, "safetensors" if tool == OURS else tool)

    def measure(self, text: str) -> Iterator[Sequence[Any]]:
        """Convert the texts with each tool, the first round to compile kernels; then compare its vectors with ours."""
        from pyarrow import parquet

        tools = (OURS, *(name for name in PEERS if is_installed(name, name.replace("-", "_"))))
        yield from take_turns({tool: partial(self.convert, tool) for tool in tools}, self.options.rounds)
        tables = {tool: parquet.read_table(self.folder / f"{tool}.parquet")["vector"].to_numpy() for tool in tools}
        ours = np.stack(tables[OURS])
        for tool in tools:
            theirs = np.stack(tables[tool])
            has_words = ours.any(axis=1) | theirs.any(axis=1)
            cosines = (normalize(ours[has_words]) * normalize(theirs[has_words])).sum(axis=1)
            yield tool, "", "lowest cosine", float(cosines.min())
            yield tool, "", "vectors below 0.99999", float((cosines < 0.99999).mean())

    def convert(self, tool: str) -> dict[str, float]:
        """Convert the texts in a process of its own."""
        threads, paths = self.options.threads, (self.folder / "texts.parquet", self.folder / f"{tool}.parquet")
        if tool == OURS:
            options = ["--text-column", "body", "--threads", threads, "--json", "--quiet", "--force"]
            usage = run(
                [*EMBEDDINGS, "embed", self.folder / OURS, paths[0], "-o", paths[1], *options], **limits(threads)
            )
            printed = json.loads(usage.output[usage.output.index("{") :])
        else:
            usage, printed = run_code(PEERS[tool], self.folder / tool, *paths, threads, **limits(threads))
        seconds = float(printed["seconds"])
        return {
            "wall s": usage.wall, "CPU s": usage.cpu, "conversion s": seconds,
            "texts/s": self.options.texts / seconds, "peak MB": usage.peak / 1e6,
        }  # fmt: skip


TORCH, SENTENCES = "PyTorch, SparseAdam", "sentence-transformers"
MODULES = {TORCH: ("torch",), SENTENCES: ("sentence_transformers", "datasets")}
START = """
folder, batch, temperature, rate, threads, epochs = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
threads, epochs = int(threads), int(epochs)
ids, start = np.load(folder + "/ids.npy"), np.load(folder + "/start.npy")
"""
TRAINERS = {
    OURS: {
        "setup": """
import embeddings as em
words = em.load(folder + "/words.txt")
vocabulary = em.corpora.Vocabulary.from_counts(words.words, [1] * len(words))
settings = dict(batch_size=batch, temperature=temperature, learning_rate=rate, epochs=epochs)
trainer = em.DualEncoder(dim=start.shape[1], **settings)
options = em.training.RunOptions(init=em.InitFrom(words, duplicates="exact"))
def corpus(name):
    pairs = em.Corpus(
        folder + name, pairs=em.corpora.PairFormat(), tokenizer="whitespace", case="keep", vocabulary=vocabulary
    )
    pairs.encode()
    return pairs
trainer.train(corpus("/few.parquet"), threads=threads, run_options=options)
pairs = corpus("/pairs.parquet")
""",
        "work": "model = trainer.train(pairs, threads=threads, run_options=options)",
        "after": "rows, loss = model.vectors[words.words], model.record['loss_by_epoch'][-1]",
    },
    TORCH: {
        "setup": """
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
""",
        "work": """
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
""",
        "after": "rows, loss = bag.weight.detach().numpy(), total / len(pairs)",
    },
    SENTENCES: {
        "setup": """
import torch, datasets
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
""",
        "work": "trainer.train()",
        "after": "rows = model[0].embedding.weight.detach().numpy()\n"
        "loss = [entry['loss'] for entry in trainer.state.log_history if 'loss' in entry][-1]",
    },
}
SAVE = "\nnp.save(folder + '/rows.npy', rows)\nfigures['loss'] = loss"


class PairSpeed(Grid):
    """Measures training on neighbouring sentences of --text: CPU seconds a million pairs, here and in other libraries.

    All tools train the same model on the same pairs, the first --words of each sentence, in batches of the same size:
    the mean of word vectors, from the same initial rows, by in-batch negatives in both directions. PyTorch uses an
    EmbeddingBag with sparse gradients and SparseAdam on arrays of words, sentence-transformers a StaticEmbedding, its
    own trainer and its loss `MultipleNegativesSymmetricRankingLoss`. The tools take turns, each in a process of its
    own; a library that is not installed is skipped. CPU seconds are those of training, without imports and
    compilation; those of sentence-transformers include the tokenisation, which its trainer does. The accuracy is the
    share of held-out left texts whose right text is the nearest of all held-out ones. With several learning rates each
    has a row, so that tools can be compared at the best rate of each.
    """

    results = "text-pairs/speed"
    keys = ("text",)
    rows = ("tool", "learning rate")
    values = ("tool", "learning rate", "round", "measure", "value")
    packages = ("numpy", "numba", "torch", "sentence-transformers")
    warm_up = False
    columns: ClassVar = {
        "CPU s a million pairs": ".1f", "wall s a million pairs": ".1f", "held-out accuracy": ".3f", "loss": ".3f",
    }  # fmt: skip
    defaults: ClassVar = {
        "text": str, "pairs": 100_000, "held_out": 2000, "words": 22, "dim": 256,
        "batch_size": 1024, "temperature": 0.03, "epochs": 1, "threads": 1, "rounds": 3, "learning_rate": [0.05],
        "torch_rate": [0.01], "trainer_rate": [0.01],
    }  # fmt: skip
    about = (
        "{training_pairs:,} pairs of {words} and {words} words, {types:,} different words, {dim} components, batches "
        "of {batch_size:,}, {epochs} epochs, {threads} threads; medians of {rounds} runs."
    )

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
        self.held_out = ids[: options.held_out]
        self.facts = {"training_pairs": len(ids) - options.held_out, "types": len(numbers)}
        matrix = 0.1 * start.standard_normal((len(numbers), options.dim), dtype=np.float32)
        np.save(folder / "ids.npy", ids[options.held_out :])
        np.save(folder / "start.npy", matrix)
        em.Vectors(list(numbers), matrix).save(folder / "words.txt", format="arrow")
        (folder / "words.json").write_text(json.dumps(list(numbers)), encoding="utf-8")
        rest = order[options.held_out :]
        for name, part in (("pairs", rest), ("few", rest[:100])):
            sides = {side: [" ".join(pairs[n][place]) for n in part] for place, side in enumerate(("left", "right"))}
            parquet.write_table(pa.table(sides), folder / f"{name}.parquet")

    def runs(self, text: str) -> Runs:
        """The training with each tool and learning rate."""
        options = self.options
        rates = {OURS: options.learning_rate, TORCH: options.torch_rate, SENTENCES: options.trainer_rate}
        tools = (OURS, *(name for name, modules in MODULES.items() if all(is_installed(name, one) for one in modules)))
        return {(tool, f"{rate:g}"): partial(self.train, tool, rate) for tool in tools for rate in rates[tool]}

    def train(self, tool: str, rate: float) -> dict[str, float]:
        """Train with a tool in a process of its own."""
        options = self.options
        values = (options.batch_size, options.temperature, rate, options.threads, options.epochs)
        code = TRAINERS[tool]
        code = {"setup": START + code["setup"], "work": code["work"], "after": code["after"] + SAVE}
        _, result = run_code(code, self.folder, *values, **limits(options.threads))
        pairs = self.facts["training_pairs"] * options.epochs / 1e6
        score = accuracy(np.load(self.folder / "rows.npy"), self.held_out)
        figures = (result["cpu"] / pairs, result["seconds"] / pairs, score, result["loss"])
        return dict(zip(self.columns, figures, strict=True))


def read_pairs(text: str, count: int, words: int) -> list[tuple[list[str], list[str]]]:
    """The first words of neighbouring sentences that have this many words each."""
    rows = em.Corpus(text, pairs=em.corpora.PairFormat("neighbouring-sentences")).pair_rows()
    texts = (pair for batch in rows for pair in zip(*(side.to_pylist() for side in batch.texts), strict=True))
    both = ((a.lower().split(), b.lower().split()) for a, b in texts)
    return list(islice(((a[:words], b[:words]) for a, b in both if min(len(a), len(b)) >= words), count))


def accuracy(rows: np.ndarray, held_out: np.ndarray) -> float:
    """The share of left texts whose right text is the nearest one."""
    left, right = (normalize_rows(rows[held_out[:, side]].mean(axis=1)) for side in (0, 1))
    return float(((left @ right.T).argmax(axis=1) == np.arange(len(held_out))).mean())

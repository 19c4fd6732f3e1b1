"""Texts of a Parquet file as vectors: the speed here and in sentence-transformers and model2vec."""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.support.cosine import normalize
from studies.grid import Grid, installed, run_command, take_turns

MIN_LENGTH = 60  # characters of a paragraph
PEER = """
import json, os, sys, time
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
{imports}
folder, texts, out, threads = sys.argv[1:]
{load}
start, used = time.perf_counter(), time.process_time()
table = pq.read_table(texts)
vectors = {encode}
column = pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(vectors, np.float32).ravel()), vectors.shape[1])
pq.write_table(table.append_column("vector", column), out, use_dictionary=["id", "body"], compression="none")
versions = {versions}
print(json.dumps(dict(seconds=time.perf_counter() - start, cpu=time.process_time() - used, versions=versions)))
"""
PEERS = {
    "sentence-transformers": {
        "imports": "import torch, sentence_transformers",
        "load": "torch.set_num_threads(int(threads))\n"
        "model = sentence_transformers.SentenceTransformer(folder, device='cpu')",
        "encode": "model.encode(table['body'].to_pylist(), batch_size=1024, convert_to_numpy=True)",
        "versions": "{'sentence-transformers': sentence_transformers.__version__, 'torch': torch.__version__}",
    },
    "model2vec": {
        "imports": "import model2vec",
        "load": "model = model2vec.StaticModel.from_pretrained(folder)",
        "encode": "model.encode(table['body'].to_pylist())",
        "versions": "{'model2vec': model2vec.__version__}",
    },
}
OURS = "embeddings"
MODULES = {"sentence-transformers": ("sentence_transformers",), "model2vec": ("model2vec",)}


class TextVectors(Grid):
    """Measures how fast texts of a Parquet file become vectors, here and in sentence-transformers and model2vec.

    The texts are the first paragraphs of --text, a corpus of plain text; words have the vectors of --vectors, or
    random ones. Each tool reads the file and writes a Parquet file with the vectors, in a process of its own; the tools
    take turns. --peers is an interpreter with sentence-transformers, model2vec and pyarrow, by default this one; a
    library that it does not have is skipped. The table has wall and CPU seconds of the whole process, seconds of the
    conversion alone, without imports and the reading of the model, peak memory, and how vectors differ from ours.
    """

    results = "text-vectors/speed"
    keys = ("text",)
    rows = ("tool",)
    columns: ClassVar = {
        "wall s": ".2f", "CPU s": ".2f", "conversion s": ".2f", "texts/s": ",.0f", "peak MB": ",.0f",
        "lowest cosine": ".6f", "vectors below 0.99999": ".3%",
    }  # fmt: skip
    values = ("tool", "round", "measure", "value")
    packages = ("numpy", "numba", "pyarrow")
    defaults: ClassVar = {
        "text": str, "peers": sys.executable, "vectors": None, "texts": 100_000, "dim": 256, "threads": 2, "rounds": 3,
    }  # fmt: skip

    def prepare(self) -> None:
        """Write the texts, and the vectors in the format of each tool."""
        import pyarrow as pa
        from pyarrow import parquet

        options, paragraphs = self.options, read_paragraphs(Path(self.options.text), self.options.texts)
        table = pa.table({"id": range(len(paragraphs)), "body": paragraphs})
        parquet.write_table(table, self.folder / "texts.parquet")
        if options.vectors is None:
            with em.Corpus(paragraphs).encode() as encoded:
                vocabulary = encoded.vocabulary.select(min_count=min(5, int(encoded.vocabulary.counts[0])))
            matrix = np.random.default_rng(1).standard_normal((len(vocabulary), options.dim), dtype=np.float32)
            self.vectors = em.Vectors(vocabulary.words, matrix, counts=vocabulary.counts)
        else:
            loaded = em.load(options.vectors)
            self.vectors = em.Vectors(loaded.words, loaded.matrix, counts=loaded.counts)
        self.vectors.save(self.folder / OURS, "safetensors")
        for library in PEERS:
            self.vectors.save(self.folder / library, library)

    def measure(self, text: str) -> Iterator[Sequence[Any]]:
        """Convert the texts with each tool; the first round compiles kernels."""
        self.found: dict[str, str] = {}
        tools = (OURS, *installed(self.options.peers, MODULES))
        yield from take_turns({tool: partial(self.convert, tool) for tool in tools}, self.options.rounds)
        for tool in tools:
            lowest, below = self.compare(tool)
            yield from ((tool, "", *one) for one in (("lowest cosine", lowest), ("vectors below 0.99999", below)))

    def convert(self, tool: str) -> dict[str, float]:
        """Convert the texts in a process of its own."""
        threads, texts, out = (
            self.options.threads, self.folder / "texts.parquet", self.folder / f"{tool}.parquet",
        )  # fmt: skip
        if tool == OURS:
            options = ["--text-column", "body", "--threads", threads, "--json", "--quiet", "--force"]
            command = [sys.executable, "-m", "embeddings", "embed", self.folder / OURS, texts, "-o", out, *options]
        else:
            command = [self.options.peers, "-c", PEER.format(**PEERS[tool]), self.folder / tool, texts, out, threads]
        usage = run_command(command, threads)
        printed = json.loads(usage.output[usage.output.index("{") if tool == OURS else usage.output.rindex('{"sec') :])
        self.found |= printed.get("versions", {})
        seconds = float(printed["seconds"])
        return {
            "wall s": usage.wall, "CPU s": usage.cpu, "conversion s": seconds,
            "texts/s": self.options.texts / seconds, "peak MB": usage.peak / 1e6,
        }  # fmt: skip

    def compare(self, tool: str) -> tuple[float, float]:
        """The lowest cosine of a tool's vectors and ours, and the share of texts whose cosine is below 0.99999."""
        from pyarrow import parquet

        ours, theirs = (
            np.stack(parquet.read_table(self.folder / f"{name}.parquet")["vector"].to_numpy()) for name in (OURS, tool)
        )
        has_words = ours.any(axis=1) | theirs.any(axis=1)
        cosines = (normalize(ours[has_words]) * normalize(theirs[has_words])).sum(axis=1)
        return float(cosines.min()), float((cosines < 0.99999).mean())

    def versions(self) -> dict[str, str]:
        """The versions of the libraries of the processes."""
        return self.found

    def about(self) -> str:
        """The texts and the vectors."""
        options, vectors = self.options, self.vectors
        return (
            f"{options.texts:,} paragraphs, {len(vectors):,} words with {vectors.dim} components, {options.threads} "
            f"threads; medians of {options.rounds} runs. Conversion: from reading the texts to the written file."
        )


def read_paragraphs(path: Path, count: int) -> list[str]:
    """The first paragraphs of a text, without short ones."""
    with open_decompressed(path) as stream:
        lines = (line.decode().strip() for line in stream)
        return list(islice((line for line in lines if len(line) >= MIN_LENGTH), count))

"""Measures how fast texts of a Parquet file become vectors, here and in sentence-transformers and model2vec.

`python tools/text_vector_speed.py TEXT --peers PYTHON -o FILE.md` takes the first paragraphs of TEXT, a corpus of
plain text, writes them to a Parquet file, and gives their words random vectors (or those of `--vectors`). Each tool
then reads that file and writes a Parquet file with the vectors, in a process of its own; the tools take turns. PYTHON
is an interpreter with sentence-transformers, model2vec and pyarrow, which is this one by default; a library that it
does not have is skipped. The table has the medians of each tool's processes: wall and CPU seconds of the whole process,
seconds of the conversion alone, without imports and the reading of the model, peak memory, and how its vectors differ
from ours.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click
import numpy as np

import embeddings as em
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.errors import OutputError
from embeddings.eval.benchmark.workspace import Usage, run, write_text
from embeddings.eval.machine import describe, environment
from embeddings.support.cosine import normalize
from embeddings.support.files import check_file

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
HEADS = ("tool", "wall s", "CPU s", "conversion s", "texts/s", "peak MB", "lowest cosine", "vectors below 0.99999")


def read_paragraphs(path: Path, count: int) -> list[str]:
    """The first paragraphs of a text, without short ones."""
    with open_decompressed(path) as stream:
        lines = (line.decode().strip() for line in stream)
        return list(islice((line for line in lines if len(line) >= MIN_LENGTH), count))


def prepare(folder: Path, text: Path, vectors: Path | None, texts: int, dim: int) -> em.Vectors:
    """Write the texts, and the vectors in the format of each tool; returns the vectors."""
    import pyarrow as pa
    from pyarrow import parquet

    paragraphs = read_paragraphs(text, texts)
    parquet.write_table(pa.table({"id": range(len(paragraphs)), "body": paragraphs}), folder / "texts.parquet")
    if vectors is None:
        with em.Corpus(paragraphs).encode() as encoded:
            vocabulary = encoded.vocabulary.select(min_count=min(5, int(encoded.vocabulary.counts[0])))
        matrix = np.random.default_rng(1).standard_normal((len(vocabulary), dim), dtype=np.float32)
        result = em.Vectors(vocabulary.words, matrix, counts=vocabulary.counts)
    else:
        loaded = em.load(vectors)
        result = em.Vectors(loaded.words, loaded.matrix, counts=loaded.counts)
    result.save(folder / OURS, "safetensors")
    for library in PEERS:
        result.save(folder / library, "model2vec" if library == "model2vec" else library)
    return result


def command(tool: str, folder: Path, python: str, threads: int) -> list[str]:
    """The command that a tool runs."""
    texts, out = str(folder / "texts.parquet"), str(folder / f"{tool}.parquet")
    if tool != OURS:
        return [python, "-c", PEER.format(**PEERS[tool]), str(folder / tool), texts, out, str(threads)]
    options = ["--text-column", "body", "--threads", str(threads), "--json", "--quiet", "--force"]
    return [sys.executable, "-m", "embeddings", "embed", str(folder / OURS), texts, "-o", out, *options]


def installed(python: str) -> list[str]:
    """The libraries that an interpreter can import."""
    names = {"sentence-transformers": "sentence_transformers", "model2vec": "model2vec"}
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    return [name for name, module in names.items() if subprocess.run([python, "-c", code, module]).returncode == 0]


def compare(folder: Path, tool: str) -> tuple[str, str]:
    """The lowest cosine between a tool's vectors and ours, and the share of texts whose cosine is below 0.99999."""
    from pyarrow import parquet

    ours, theirs = (
        np.stack(parquet.read_table(folder / f"{name}.parquet")["vector"].to_numpy()) for name in (OURS, tool)
    )
    has_words = ours.any(axis=1) | theirs.any(axis=1)
    cosines = (normalize(ours[has_words]) * normalize(theirs[has_words])).sum(axis=1)
    return f"{cosines.min():.6f}", f"{(cosines < 0.99999).mean():.3%}"


def measure(
    folder: Path, python: str, texts: int, threads: int, repeats: int
) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """A row for each tool, and the versions of its libraries."""
    variables = {**os.environ, "OMP_NUM_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    variables |= {
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
    }
    tools = [OURS, *installed(python)]
    run(command(OURS, folder, python, threads), variables)  # compiles kernels
    runs: dict[str, list[tuple[Usage, dict[str, object]]]] = {tool: [] for tool in tools}
    for tool in tools * repeats:
        usage = run(command(tool, folder, python, threads), variables)
        if usage.code:
            raise click.ClickException(f"{tool}: {usage.error}")
        start = usage.output.index("{") if tool == OURS else usage.output.rindex('{"seconds"')
        runs[tool].append((usage, json.loads(usage.output[start:])))
    for tool, each in runs.items():
        wall, cpu = (median(getattr(usage, name) for usage, _ in each) for name in ("wall", "cpu"))
        seconds = median(float(str(printed["seconds"])) for _, printed in each)
        peak = max(usage.peak for usage, _ in each) / 1e6
        numbers = (f"{wall:.2f}", f"{cpu:.2f}", f"{seconds:.2f}", f"{texts / seconds:,.0f}", f"{peak:,.0f}")
        versions = each[0][1].get("versions", {})
        yield (tool, *numbers, *compare(folder, tool)), versions if isinstance(versions, dict) else {}


def markdown(rows: Sequence[tuple[str, ...]], description: str) -> str:
    """The rows as a table below the description."""
    lines = [HEADS, ("---",) * len(HEADS), *rows]
    return "\n".join([description, "", *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


@click.command()
@click.argument("text", type=click.Path(exists=True, path_type=Path))
@click.option("--peers", default=sys.executable, help="Python with sentence-transformers, model2vec and pyarrow.")
@click.option("--vectors", type=click.Path(exists=True, path_type=Path), help="Word vectors.  [default: random ones]")
@click.option("--texts", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=256, show_default=True, help="Components of random vectors.")
@click.option("--threads", type=click.IntRange(1), default=2, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Processes per tool.")
@click.option("-o", "--out", help="Output file of the table in Markdown.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(
    text: Path, peers: str, vectors: Path | None, texts: int, dim: int, threads: int, repeats: int, out: str | None,
    force: bool,
) -> None:  # fmt: skip
    """Measure how fast the paragraphs of TEXT become vectors."""
    if out is not None:
        try:
            check_file(out, force=force)
        except OutputError as error:
            raise click.ClickException(str(error)) from None
    with TemporaryDirectory(prefix="embeddings-text-vectors-") as name:
        folder = Path(name)
        table = prepare(folder, text, vectors, texts, dim)
        results = list(measure(folder, peers, texts, threads, repeats))
    rows = [row for row, _ in results]
    for one in (HEADS, *rows):
        click.echo("\t".join(one))
    if out is not None:
        machine = environment(("embeddings-toolkit", "numpy", "numba", "pyarrow"))
        versions = machine["packages"] | {key: value for _, each in results for key, value in each.items()}
        about = (
            f"{describe(machine, versions)} {texts:,} paragraphs, {len(table):,} words with {table.dim} components, "
            f"{threads} threads; medians of {repeats} runs. Conversion: from reading the texts to the written file."
        )
        write_text(markdown(rows, about), Path(out))


if __name__ == "__main__":
    main()

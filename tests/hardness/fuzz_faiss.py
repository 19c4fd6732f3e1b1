"""Saved FAISS indexes with altered fields, each read and searched in a process of its own, because FAISS may crash.

    python tests/hardness/fuzz_faiss.py --cases 300

prints a table: factory, cases, refused, read, crashed, defects; then every distinct defect, with the command that
repeats its first case. Each factory gets the same number of cases. A case is refused with an
`EmbeddingsError` of one line, or read and searched; FAISS crashes or hangs on some, which is why its files are read
only with consent. Another exception, or a result outside of the vectors, is a defect.
"""

import argparse
import json
import os
import random
import resource
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

FACTORIES = [
    "Flat", "HNSW8", "HNSW8,PQ4x4", "NSG8", "IVF4,Flat", "IVF4,PQ4x4", "IVF4,SQ8", "IVF4,PQ4x4fs", "PQ4x4", "PQ4x4fs",
    "SQ8", "LSH", "LSHr", "LSH40rt", "PCA8,Flat", "OPQ4,PQ4x4", "PQ4x4,RFlat", "RaBitQ", "IVF4,RaBitQ",
]  # fmt: skip
ROWS, DIM = 300, 16
ODD_INTEGERS = [0, 1, 2, 3, 7, 8, 16, 17, 255, 256, 299, 300, 301, 65_536]
ODD_INTEGERS += [2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1]
ODD_FLOATS = [0.0, -1e30, float("inf"), float("nan")]
ADDRESS_SPACE, SECONDS = 3 << 30, 5
OUTCOMES = ["refused", "read", "crashed", "defect"]


def alter_fields(rng: random.Random, data: bytes) -> bytes:
    """One or two fields replaced: mostly numbers of the headers of the index and of its parts."""
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2])):
        offset = rng.randrange(min(len(result), rng.choice([60, 150, 400, len(result)])))
        offset = max(0, len(result) - 8 - offset) if rng.random() < 0.3 else offset
        size = rng.choice([1, 4, 4, 8])
        old = int.from_bytes(result[offset : offset + size], "little")
        value = rng.choice([*ODD_INTEGERS, old + 1, old - 1, old * 2, old ^ 1 << rng.randrange(8 * size)])
        new = (value % (1 << 8 * size)).to_bytes(size, "little")
        if rng.random() < 0.1:
            new = np.array(rng.choice(ODD_FLOATS), "<f4").tobytes()
        result[offset : offset + len(new)] = new
    return bytes(result[: len(data)]) if rng.random() < 0.95 else bytes(result[: rng.randrange(len(result))])


def read_and_search(folder: Path) -> str:
    """The outcome of loading and searching an index, and the error if it is a defect."""
    import good_files

    import embeddings as em
    from embeddings.errors import EmbeddingsError

    try:
        index = em.load_index(folder, vectors(), allow_faiss=True)
        result = index.search(vectors().matrix[:5], top=5)
        assert ((result.ids >= -1) & (result.ids < ROWS)).all(), "a row that does not exist"
    except EmbeddingsError as error:
        good_files.check_line(error)
        return "refused"
    except BaseException as error:
        return f"defect {type(error).__name__}: {error!s:.200}"
    return "read"


def vectors():
    import embeddings as em

    rows = np.random.default_rng(1).standard_normal((ROWS, DIM))
    return em.Vectors([f"w{i}" for i in range(ROWS)], rows)


def run_case(folder: Path, good: bytes, rng: random.Random) -> str:
    """Alter a saved index, make its checksum again, and read it in another process."""
    from embeddings.support import tensors
    from embeddings.support.records import checksum
    from embeddings.vectors.index import RECORD, TENSORS

    (folder / TENSORS).unlink(missing_ok=True)
    tensors.save({"faiss": np.frombuffer(alter_fields(rng, good), np.uint8)}, folder / TENSORS)
    record = json.loads((folder / RECORD).read_text())
    (folder / RECORD).write_text(json.dumps({**record, "checksum": checksum(folder / TENSORS)}))
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, read_and_search(folder).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        outcome = stream.read().decode()
    os.waitpid(process, 0)
    return outcome or "crashed"


def fuzz(factory: str, cases: range, seed: int, folder: Path) -> Iterator[str]:
    """The outcome of each of these cases of a factory."""
    import embeddings as em
    from embeddings.support import tensors
    from embeddings.vectors.index import TENSORS

    em.build_index(vectors(), "faiss", factory=factory).save(folder)
    good = tensors.load(folder / TENSORS)["faiss"].tobytes()
    for case in cases:
        yield run_case(folder, good, random.Random(f"{factory} {seed} {case}"))


def main() -> int:
    """Test all factories, or those named on the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("factories", nargs="*", default=FACTORIES)
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    arguments = options.parse_args()
    import faiss

    faiss.omp_set_num_threads(1)  # a process that forks must have no threads
    defects: dict[tuple[str, str], list[int]] = {}  # their cases
    cases = range(arguments.first, arguments.first + arguments.cases)
    print("factory", "cases", *OUTCOMES, sep="\t")
    with tempfile.TemporaryDirectory() as scratch:
        for factory in arguments.factories:
            counts = Counter[str]()
            outcomes = fuzz(factory, cases, arguments.seed, Path(scratch) / "index")
            for case, outcome in zip(cases, outcomes, strict=True):
                kind, _, detail = outcome.partition(" ")
                counts[kind] += 1
                if kind == "defect":
                    defects.setdefault((factory, detail), []).append(case)
            print(factory, arguments.cases, *(counts[kind] for kind in OUTCOMES), sep="\t", flush=True)
            shutil.rmtree(Path(scratch) / "index")
    for (factory, detail), found in defects.items():
        command = ["python", __file__, factory, "--seed", str(arguments.seed), "--first", str(found[0]), "--cases", "1"]
        print(f"{len(found)} x {factory}: {detail}\n    repeat: {shlex.join(command)}")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())

"""Broken files by the thousand for every reader, in processes with limits on memory and time.

    python tests/hardness/fuzz.py --cases 2000

prints a table: reader, cases, refused, read, defects; then every defect, once each. A case is refused with an
`EmbeddingsError` of one line, or read. All else is a defect: another exception, a warning, a crash, more than `MEMORY`
bytes or `SECONDS` of processor time. A case is settled by its reader, the seed and its number, so that each comes again
with `--reader NAME --seed S --first N --cases 1`.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "training")]

MEMORY = 1 << 28  # bytes that a case may take
ROOM = 3 << 29  # bytes of addresses that a process may ask for beyond those that it has
SECONDS = 20
REFUSED, READ, DEFECT = "refused", "read", "defect"


class Found(NamedTuple):
    """What became of a case."""

    reader: str
    case: int
    outcome: str
    detail: str


def memory(name: str) -> int:
    """A figure of this process, such as VmHWM, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def attempt(read: Any, path: Path) -> tuple[str, str]:
    """Whether it was refused or read; else what is wrong, with the last lines of our own that were at work."""
    from good_files import check_line

    from embeddings.errors import EmbeddingsError

    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmHWM")
    try:
        try:
            read(path)
            outcome, detail = READ, ""
        except EmbeddingsError as error:
            check_line(error)
            outcome, detail = REFUSED, str(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" not in frame.filename]
        place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-3:]))
        return DEFECT, f"{type(error).__name__}: {error!s:.200} at {place}"
    taken = memory("VmHWM") - before
    return (DEFECT, f"took {taken >> 20} MiB, then: {outcome} {detail:.100}") if taken > MEMORY else (outcome, detail)


def work(names: Sequence[str], first: int, cases: int, seed: int, goods: Path, out: Path) -> None:
    """Do cases of readers, one after another, and write what became of each as a line."""
    from good_files import readers
    from mutations import spoil

    known = readers()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    with out.open("a") as stream, tempfile.TemporaryDirectory() as scratch:
        for place, name in enumerate(names):
            reader, bad = known[name], Path(scratch) / "bad"
            good = Path((goods / name / "where").read_text())
            others = sorted(path for path in goods.glob("*/good/*") if path.is_file())
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            shutil.copytree(good.parent, bad)
            reader.read(bad / good.name)  # whatever is compiled or imported is so now; a good one is read
            resource.setrlimit(resource.RLIMIT_AS, (memory("VmSize") + ROOM, resource.RLIM_INFINITY))
            for case in range(first if place == 0 else 0, cases):
                shutil.rmtree(bad)
                bad.mkdir()
                spoil(random.Random(f"{name} {seed} {case}"), good, bad / good.name, others)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                outcome, detail = attempt(reader.read, bad / good.name)
                signal.setitimer(signal.ITIMER_PROF, 0)
                stream.write(json.dumps(Found(name, case, outcome, detail)) + "\n")
                stream.flush()
            shutil.rmtree(bad)


def make(names: Sequence[str], goods: Path) -> None:
    """Write good files for the readers."""
    from good_files import readers

    known = readers()
    for name in names:
        folder = goods / name / "good"
        folder.mkdir(parents=True)
        (goods / name / "where").write_text(str(known[name].make(folder)))


def results(out: Path) -> list[Found]:
    """What is known so far."""
    return [Found(*json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []


def fuzz(names: Sequence[str], cases: int, seed: int = 1, *, first: int = 0) -> list[Found]:
    """What becomes of so many cases of each reader; a process that is killed by one goes on with the next."""
    with tempfile.TemporaryDirectory() as scratch:
        goods, out = Path(scratch) / "goods", Path(scratch) / "out"
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        environment |= {"EMBEDDINGS_CACHE": str(cache_beside(Path(scratch))), "OPENBLAS_NUM_THREADS": "1"}
        environment |= {"OMP_NUM_THREADS": "1", "TMPDIR": scratch, "NUMBA_NUM_THREADS": "1"}
        child([*names], {"make": str(goods)}, environment, check=True)
        left, start = list(names), first
        while left:
            how = {"first": start, "cases": cases, "seed": seed, "goods": str(goods), "out": str(out)}
            status = child(left, how, environment)
            done = results(out)
            if status == 0:
                break
            if status > 0:
                raise RuntimeError("the fuzzing itself is broken")
            name, case = (done[-1].reader, done[-1].case + 1) if done else (left[0], start)
            if case >= cases:
                name, case = left[left.index(name) + 1], 0
            with out.open("a") as stream:
                stream.write(json.dumps(Found(name, case, DEFECT, f"the process ended with {status}")) + "\n")
            left, start = left[left.index(name) :], case + 1
        return results(out)


def cache_beside(scratch: Path) -> Path:
    """A cache of its own, but for the compiled kernels."""
    from embeddings.support.cache_folder import cache_folder

    cache, kernels = scratch / "cache", cache_folder("kernels")
    cache.mkdir()
    if kernels is not None:
        (cache / "kernels").symlink_to(kernels)
    return cache


def child(names: list[str], how: dict[str, Any], environment: dict[str, str], *, check: bool = False) -> int:
    """The exit code of a process that does a part; its messages are shown."""
    command = [sys.executable, str(HERE / "fuzz.py"), "--part", json.dumps({"names": names, **how})]
    return subprocess.run(command, env=environment, check=check).returncode


def table(found: Sequence[Found]) -> str:
    """Lines of reader, cases, refused, read, defects."""
    counts = Counter((one.reader, one.outcome) for one in found)
    lines = [("reader", "cases", REFUSED, READ, "defects")]
    for name in dict.fromkeys(one.reader for one in found):
        figures = [counts[name, outcome] for outcome in (REFUSED, READ, DEFECT)]
        lines.append((name, *map(str, [sum(figures), *figures])))
    totals = [sum(int(line[column]) for line in lines[1:]) for column in range(1, 5)]
    return "\n".join("\t".join(line) for line in [*lines, ("all", *map(str, totals))])


def main() -> None:
    """Do what the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--reader", action="append", help="a reader, or the start of names; all if not given")
    options.add_argument("--part", type=json.loads, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.part and "make" in given.part:
        return make(given.part["names"], Path(given.part["make"]))
    if given.part:
        part = given.part
        return work(part["names"], part["first"], part["cases"], part["seed"], Path(part["goods"]), Path(part["out"]))
    from good_files import readers

    names = [name for name in readers() if not given.reader or name.startswith(tuple(given.reader))]
    found = fuzz(names, given.first + given.cases, given.seed, first=given.first)
    print(table(found))
    defects = [one for one in found if one.outcome == DEFECT]
    for detail, count in Counter((one.reader, one.detail) for one in defects).most_common():
        case = next(one.case for one in defects if (one.reader, one.detail) == detail)
        print(f"{count} x {detail[0]}, first case {case}: {detail[1]}")
    sys.exit(bool(defects))


if __name__ == "__main__":
    main()

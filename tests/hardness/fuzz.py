"""Thousands of broken files for every reader, in processes with limited memory and time.

    python tests/hardness/fuzz.py --cases 2000

prints a table: reader, cases, refused, read, defects; then every distinct defect. A case is refused with an
`EmbeddingsError` of one line, or read. Anything else is a defect: another exception, a warning, a crash, more than
`MEMORY` bytes or `SECONDS` of CPU time. Reader, seed and number determine a case; a defect is printed with the command
that repeats its first case. Readers called "fields of ..." get files that are valid for their
container but have false content (structure.py); the others get damaged files (mutations.py).
"""

import argparse
import json
import os
import random
import resource
import shlex
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

MEMORY = 1 << 28  # bytes per case
ADDRESS_SPACE = 3 << 29  # bytes that a process may reserve in addition
SECONDS = 20
REFUSED, READ, DEFECT = "refused", "read", "defect"


class Case(NamedTuple):
    """The outcome of a case."""

    reader: str
    case: int
    outcome: str
    detail: str


def process_memory(name: str) -> int:
    """A number from /proc/self/status, such as VmHWM, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def attempt(read: Any, path: Path) -> tuple[str, str]:
    """REFUSED, READ or DEFECT, with the message; of a defect, with the last lines of our own code."""
    from good_files import check_line

    from embeddings.errors import EmbeddingsError

    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = process_memory("VmHWM")
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
    used = process_memory("VmHWM") - before
    return (DEFECT, f"used {used >> 20} MiB, then: {outcome} {detail:.100}") if used > MEMORY else (outcome, detail)


def run_cases(names: Sequence[str], first: int, cases: int, seed: int, goods: Path, out: Path) -> None:
    """Run cases of readers one by one, and append a line for each outcome."""
    from good_files import readers
    from mutations import write_bad_copy
    from structure import write_altered_copy

    all_readers = readers()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    with out.open("a") as stream, tempfile.TemporaryDirectory() as scratch:
        for place, name in enumerate(names):
            reader, bad = all_readers[name], Path(scratch) / "bad"
            good = Path((goods / name / "where").read_text())
            others = sorted(path for path in goods.glob("*/good/*") if path.is_file())
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            shutil.copytree(good.parent, bad)
            reader.read(bad / good.name)  # a good file, so that everything is compiled and imported now
            resource.setrlimit(resource.RLIMIT_AS, (process_memory("VmSize") + ADDRESS_SPACE, resource.RLIM_INFINITY))
            for case in range(first if place == 0 else 0, cases):
                shutil.rmtree(bad)
                bad.mkdir()
                rng = random.Random(f"{name} {seed} {case}")
                if reader.alter:
                    write_altered_copy(rng, good, bad / good.name, reader.alter)
                else:
                    write_bad_copy(rng, good, bad / good.name, others)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                outcome, detail = attempt(reader.read, bad / good.name)
                signal.setitimer(signal.ITIMER_PROF, 0)
                stream.write(json.dumps(Case(name, case, outcome, detail)) + "\n")
                stream.flush()
            shutil.rmtree(bad)


def write_good_files(names: Sequence[str], goods: Path) -> None:
    """Write good files for the readers."""
    from good_files import readers

    all_readers = readers()
    for name in names:
        folder = goods / name / "good"
        folder.mkdir(parents=True)
        (goods / name / "where").write_text(str(all_readers[name].make(folder)))


def read_outcomes(out: Path) -> list[Case]:
    """The outcomes so far."""
    return [Case(*json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []


def fuzz(names: Sequence[str], cases: int, seed: int = 1, *, first: int = 0) -> list[Case]:
    """The outcomes of `cases` of each reader; after a case that kills the process, a new one takes the next."""
    with tempfile.TemporaryDirectory() as scratch:
        goods, out = Path(scratch) / "goods", Path(scratch) / "out"
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        environment |= {"EMBEDDINGS_CACHE": str(cache_in(Path(scratch))), "OPENBLAS_NUM_THREADS": "1"}
        environment |= {"OMP_NUM_THREADS": "1", "TMPDIR": scratch, "NUMBA_NUM_THREADS": "1"}
        run_part([*names], {"make": str(goods)}, environment, check=True)
        remaining, start = list(names), first
        while remaining:
            arguments = {"first": start, "cases": cases, "seed": seed, "goods": str(goods), "out": str(out)}
            status = run_part(remaining, arguments, environment)
            outcomes = read_outcomes(out)
            if status == 0:
                break
            if status > 0:
                raise RuntimeError("the fuzzer itself failed")
            name, case = (outcomes[-1].reader, outcomes[-1].case + 1) if outcomes else (remaining[0], start)
            after = remaining[remaining.index(name) + 1 :]
            if case >= cases and after:
                name, case = after[0], 0
            with out.open("a") as stream:
                stream.write(json.dumps(Case(name, case, DEFECT, f"the process ended with {status}")) + "\n")
            remaining, start = remaining[remaining.index(name) :] if case < cases else [], case + 1
        return read_outcomes(out)


def cache_in(scratch: Path) -> Path:
    """A separate cache that shares only the compiled kernels."""
    from embeddings.support.cache_folder import cache_folder

    cache, kernels = scratch / "cache", cache_folder("kernels")
    cache.mkdir()
    if kernels is not None:
        (cache / "kernels").symlink_to(kernels)
    return cache


def run_part(names: list[str], arguments: dict[str, Any], environment: dict[str, str], *, check: bool = False) -> int:
    """Run a part in a process of its own, and return its exit code."""
    command = [sys.executable, str(HERE / "fuzz.py"), "--part", json.dumps({"names": names, **arguments})]
    return subprocess.run(command, env=environment, check=check).returncode


def format_table(cases: Sequence[Case]) -> str:
    """Lines of reader, cases, refused, read, defects."""
    counts = Counter((one.reader, one.outcome) for one in cases)
    lines = [("reader", "cases", REFUSED, READ, "defects")]
    for name in dict.fromkeys(one.reader for one in cases):
        figures = [counts[name, outcome] for outcome in (REFUSED, READ, DEFECT)]
        lines.append((name, *map(str, [sum(figures), *figures])))
    totals = [sum(int(line[column]) for line in lines[1:]) for column in range(1, 5)]
    return "\n".join("\t".join(line) for line in [*lines, ("all", *map(str, totals))])


def main() -> None:
    """The command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--reader", action="append", help="a reader, or else a prefix of readers; by default all")
    options.add_argument("--part", type=json.loads, help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.part and "make" in args.part:
        return write_good_files(args.part["names"], Path(args.part["make"]))
    if args.part:
        part = args.part
        return run_cases(
            part["names"], part["first"], part["cases"], part["seed"], Path(part["goods"]), Path(part["out"])
        )
    from good_files import readers

    prefixes, every = args.reader or [""], list(readers())
    names = [name for name in every if any(name == one if one in every else name.startswith(one) for one in prefixes)]
    cases = fuzz(names, args.first + args.cases, args.seed, first=args.first)
    print(format_table(cases))
    defects = [one for one in cases if one.outcome == DEFECT]
    for (name, detail), count in Counter((one.reader, one.detail) for one in defects).most_common():
        case = next(one.case for one in defects if (one.reader, one.detail) == (name, detail))
        command = ["python", __file__, "--reader", name, "--seed", str(args.seed), "--first", str(case), "--cases", "1"]
        print(f"{count} x {name}: {detail}\n    repeat: {shlex.join(command)}")
    sys.exit(bool(defects))


if __name__ == "__main__":
    main()

"""Changes the meaning of random lines of the product, one at a time, and reports the changes that no test detects.

Run from the root of the repository: `python tools/mutate.py --rooms kernels objectives --number 40`. It works on a
copy of the tree, so that nothing is changed if it is interrupted; started again, it goes on where it ended, as long as
the product's sources are the same. The copy has its own cache, where kernels are reused whose sources are not mutated.

Each mutation is first tried alone with the test files of its module. Those that survive are tried together with the
tests of the room, of the modules that import theirs, with the slow tests and with the checked build; then each of them
alone with the tests that failed. A time-out or a crash counts as a detection.

Never mutated are lines whose change no test should see: annotations, docstrings and other strings, messages and the
arguments of errors, log lines, decorators, imports for types, and prefetch hints.

A mutation that survives needs a test, or a reason why it means the same. Common reasons: it changes the size of a block
or buffer that is large enough either way, the distance or condition of a prefetch, or a number of threads or requests.
"""

import argparse
import ast
import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
from architecture import MAPPED, ROOT

from embeddings.support.cache_folder import cache_folder

STAGES = ("module", "room", "users", "slow", "checked")
CHECKED_ROOMS = ("tests/kernels", "tests/objectives", "tests/classifier", "tests/corpora")
SURVIVED = "SURVIVED"
MAX_DISTANCE = 2  # imports between a module and the test files of the stage "users"
MAX_UNNAMED = 3  # test files of the first stage for a module without test files of its name or package
SILENT_SECONDS = 900  # without output of the tests, after which they are stopped
LIMITS = {  # of a process: CPU seconds, in the first stage, and bytes of memory and of a file
    resource.RLIMIT_CPU: 180, resource.RLIMIT_DATA: 6 << 30, resource.RLIMIT_FSIZE: 2 << 30,
}  # fmt: skip
PASSED = (0, 5)  # exit statuses of pytest; 5: no test was selected
TIMED_OUT = (-1, -signal.SIGXCPU, -signal.SIGKILL)

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitAnd,
}  # fmt: skip
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
SKIPPED_CALLS = re.compile(r"prefetch|Error$|Warning$|^(warn|warning|debug|info|log|cast|TypeVar)$")


class Mutation(NamedTuple):
    """A change of the source between two byte positions of a file, and what it replaces."""

    file: str
    line: int
    before: str
    after: str
    start: int
    stop: int

    @property
    def tests(self) -> str:
        """The folder of the tests of its room."""
        parts = Path(self.file).parts
        return f"tests/{parts[0] if parts[0] in MAPPED else parts[1]}"

    def row(self, *cells: str) -> str:
        """A row of a table, in which long sources are cut."""
        before, after = (textwrap.shorten(text, 90) for text in (self.before, self.after))
        return f"| {self.file}:{self.line} | `{before}` -> `{after}` | {' | '.join(cells)} |"


def name_of(function: ast.expr) -> str:
    """The last part of the name of a called function."""
    return getattr(function, "attr", None) or getattr(function, "id", "")


def is_text(node: ast.AST) -> bool:
    """Whether a node is a string that a user may read."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_skipped(node: ast.AST) -> bool:
    """Whether no test should see a change below this node."""
    if isinstance(node, ast.Call):
        return bool(SKIPPED_CALLS.search(name_of(node.func)))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or is_skipped(node.value)
    if isinstance(node, ast.FunctionDef):
        return "prefetch" in node.name
    if isinstance(node, ast.IfExp):
        return is_text(node.body) or is_text(node.orelse)
    return is_text(node) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes whose change may change the meaning of a program."""
    if is_skipped(node):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list", "exc", "msg"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from nodes(child)


def changed(node: ast.expr, **fields: object) -> str:
    """The source of an expression with other fields."""
    other = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return f"({ast.unparse(other)})"


def expressions(node: ast.AST) -> Iterator[str]:
    """Sources of expressions that can replace an expression."""
    match node:
        case ast.Compare(ops=[first, *others]):
            yield from (changed(node, ops=[other(), *others]) for other in COMPARISONS[type(first)])
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            yield changed(node, op=ARITHMETIC[type(operator)]())
        case ast.BoolOp(op=operator):
            yield changed(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield from (str(value + 1), f"({value - 1})")
        case ast.Constant(value=float() as value):
            yield str(2 * value or 1.0)
        case ast.IfExp(test=test):
            yield changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Call(args=[first, *_]):
            yield from calls(node, first)


def calls(node: ast.Call, first: ast.expr) -> Iterator[str]:
    """Sources that can replace a call with arguments."""
    args, name = node.args, name_of(node.func)
    if len(args) > 1 and type(first) is type(args[1]) and ast.dump(first) != ast.dump(args[1]):
        yield changed(node, args=[args[1], first, *args[2:]])
    if name in OPPOSITES:
        function = ast.unparse(node.func)
        yield function.removesuffix(name) + OPPOSITES[name] + ast.unparse(node).removeprefix(function)
    if name == "range":
        stop = ast.BinOp(args[len(args) > 1], ast.Sub(), ast.Constant(1))
        yield changed(node, args=[*args[: len(args) > 1], stop, *args[2:]])


def replacements(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes, this one or its test, and sources that can replace them."""
    yield from ((node, source) for source in expressions(node))
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            yield test, f"(not ({ast.unparse(test)}))"
            if not orelse and isinstance(body[-1], ast.Raise | ast.Return | ast.Continue):
                yield node, "pass"
        case ast.While(test=test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"


def mutations_of(file: str) -> dict[int, list[Mutation]]:
    """All mutations of a file, by line."""
    data = (ROOT / file).read_bytes()
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    found: dict[int, list[Mutation]] = {}
    for node in nodes(ast.parse(data)):
        for place, source in replacements(node):
            start, stop = (
                starts[place.lineno - 1] + place.col_offset,
                starts[place.end_lineno - 1] + place.end_col_offset,
            )
            mutation = Mutation(file, place.lineno, ast.unparse(place), source, start, stop)
            found.setdefault(place.lineno, []).append(mutation)
    return found


def draw(rooms: list[str], seed: int, number: int) -> list[Mutation]:
    """Mutations of random lines, as many of each room, no line twice; always the same for a seed."""
    drawn = []
    for position, room in enumerate(rooms):
        generator = random.Random(f"{seed} {room}")  # a room's mutations do not depend on the other rooms
        folder = ROOT / ("" if room.partition("/")[0] in MAPPED else "embeddings") / room
        files = sorted(str(path.relative_to(ROOT)) for path in folder.rglob("*.py"))
        lines = [line for file in files for line in mutations_of(file).values()]
        chosen = [generator.choice(line) for line in generator.sample(lines, len(lines))]
        drawn += list(enumerate(chosen[: (number + len(rooms) - 1 - position) // len(rooms)]))
    return [mutation for _, mutation in sorted(drawn, key=lambda pair: pair[0])]  # the rooms in turns


def module_name(path: Path) -> str:
    """The name under which tests and modules import a file."""
    parts = path.with_suffix("").parts
    if parts[0] == "tests":
        return parts[-1]
    return ".".join(["embeddings"] * (parts[0] in MAPPED) + [part for part in parts if part != "__init__"])


def importers(tree: Path) -> dict[str, set[Path]]:
    """The files of the package and of the tests that import a module, by its name."""
    found: dict[str, set[Path]] = {}
    for folder in ("embeddings", *MAPPED, "tests"):
        for path in (tree / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module = getattr(node, "module", None)
                    names = [alias.name for alias in node.names]
                    for name in [module, *(f"{module}.{one}" for one in names)] if module else names:
                        found.setdefault(name, set()).add(path.relative_to(tree))
    return found


def distances(file: str, users: dict[str, set[Path]]) -> dict[str, int]:
    """How many imports are between a file and each test file."""
    reached, border, distance = {Path(file): 0}, {Path(file)}, 0
    while border:
        distance += 1
        border = {user for path in border for user in users.get(module_name(path), ())} - reached.keys()
        reached |= dict.fromkeys(border, distance)
    return {str(path): steps for path, steps in reached.items() if path.name.startswith("test_")}


class Workplace:
    """A copy of the tree, in which mutations are made and tests run, and the record of their results."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.tree, self.cache, self.record, self.jobs = folder / "tree", folder / "cache", folder / "record.jsonl", jobs
        shutil.rmtree(self.tree, ignore_errors=True)
        listing = ["git", "ls-files", "-coz", "--exclude-standard"]
        listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.split("\0"):
            if name and (ROOT / name).exists():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name, follow_symlinks=False)
        if not self.cache.exists() and (kernels := cache_folder("kernels")):
            self.cache.mkdir(0o700)
            shutil.copytree(kernels, self.cache / "kernels")
        self.users, self.originals, self.stamp = importers(self.tree), dict[str, bytes](), int(time.time())
        rows = map(json.loads, self.record.read_text().splitlines()) if self.record.exists() else ()
        self.results = {Mutation(*key): (stage, test) for *key, stage, test in rows}  # the last stage, test or SURVIVED

    def note(self, mutation: Mutation, stage: str, result: str) -> None:
        """Record and print a result."""
        self.results[mutation] = stage, result
        with self.record.open("a") as file:
            file.write(json.dumps([*mutation, stage, result]) + "\n")
        click.echo(mutation.row(stage, result))

    def write(self, mutations: Iterable[Mutation], *, undo: bool = False) -> None:
        """Make mutations in the copy, or undo them; each file gets a new time, so that no bytecode is out of date."""
        mutations = sorted(mutations, key=lambda mutation: -mutation.start)  # the last first: positions stay right
        for file in {mutation.file for mutation in mutations}:
            data = self.originals.setdefault(file, (self.tree / file).read_bytes())
            for one in mutations if not undo else ():
                if one.file == file:
                    data = data[: one.start] + one.after.encode() + data[one.stop :]
            (self.tree / file).write_bytes(data)
            self.stamp += 1
            os.utime(self.tree / file, (self.stamp, self.stamp))

    def test(self, tests: Iterable[str], *options: str, is_checked: bool, is_limited: bool) -> tuple[int, list[str]]:
        """Run tests in the copy; returns the exit status, -1 for a time-out, and the tests that failed."""
        variables = {"PYTHONPATH": self.tree, "EMBEDDINGS_CACHE": self.cache, "EMBEDDINGS_CHECKED": int(is_checked)}
        command = ["pytest", "-q", "-p", "no:cacheprovider", "-n", str(self.jobs), "--dist", "loadfile"]

        def set_limits() -> None:
            for kind, limit in LIMITS.items():
                if is_limited or kind != resource.RLIMIT_CPU:
                    resource.setrlimit(kind, (limit, limit))

        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", *command, *options, *tests],
                cwd=self.tree,
                env=os.environ | {name: str(value) for name, value in variables.items()},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=set_limits,
            )
            try:
                size, since = 0, time.monotonic()
                while process.poll() is None and time.monotonic() - since < SILENT_SECONDS:
                    time.sleep(0.2)
                    if (now := os.fstat(output.fileno()).st_size) != size:
                        size, since = now, time.monotonic()
            finally:
                if is_silent := process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            output.seek(0)
            failed = re.findall(r"^(?:FAILED|ERROR) ([^ [\n]+)", output.read(), re.MULTILINE)
        return -1 if is_silent else process.wait(), list(dict.fromkeys(failed))

    def detect(self, mutations: list[Mutation], tests: list[str], *options: str, **how: bool) -> tuple[int, list[str]]:
        """`test` with mutations."""
        self.write(mutations)
        try:
            return self.test(tests, *options, **how)
        finally:
            self.write(mutations, undo=True)

    def try_alone(self, mutation: Mutation, tests: list[str], *options: str, **how: bool) -> str:
        """The first test that detects a mutation, or SURVIVED."""
        status, failed = self.detect([mutation], tests, "-x", *options, **how)
        if status in PASSED:
            return SURVIVED
        return failed[0] if failed else f"{'time-out' if status in TIMED_OUT else 'crash'} of {tests[0]}"

    def try_together(
        self, mutations: list[Mutation], tests: list[str], *options: str, **how: bool
    ) -> dict[Mutation, str]:
        """The results of mutations that are made together, and alone for the tests that fail."""
        status, failed = self.detect(mutations, tests, *options, **how)
        if status in PASSED:
            return dict.fromkeys(mutations, SURVIVED)
        if status == 1 or len(mutations) == 1:
            return {one: self.try_alone(one, failed or tests, *options, **how) for one in mutations}
        half = len(mutations) // 2  # a crash, after which no test ran
        parts = (self.try_together(part, tests, *options, **how) for part in (mutations[:half], mutations[half:]))
        return {one: result for part in parts for one, result in part.items()}

    def first_tests(self, mutation: Mutation) -> list[str]:
        """The test files of the module's name; or of its package within the room; or that import it with few steps."""
        path, folder = Path(mutation.file), self.tree / mutation.tests
        package = path.parent.name
        for names in ([path.stem, f"{package}_{path.stem}"], [package] if package != folder.name else []):
            patterns = [f"test_{name}{end}.py" for name in names for end in ("", "_*")]
            if found := {str(file.relative_to(self.tree)) for pattern in patterns for file in folder.glob(pattern)}:
                return sorted(found)
        near = distances(mutation.file, self.users)
        return sorted(near, key=lambda file: (near[file], not file.startswith(mutation.tests), file))[:MAX_UNNAMED]

    def run_stage(self, stage: str, mutations: list[Mutation]) -> None:
        """Try mutations in one stage and record the results."""
        if stage == "module":
            for one in mutations:
                tests = self.first_tests(one)
                self.note(one, stage, self.try_alone(one, tests, is_checked=False, is_limited=True))
            return
        if stage == "checked":
            mutations = [mutation for mutation in mutations if mutation.tests in CHECKED_ROOMS]
        near = [distances(file, self.users) for file in {mutation.file for mutation in mutations}]
        users = {file for one in near for file, steps in one.items() if steps <= MAX_DISTANCE}
        folders = {self.tree / mutation.tests for mutation in mutations}
        room = {str(file.relative_to(self.tree)) for folder in folders for file in folder.glob("test_*.py")}
        tests = sorted({"users": users - room, "slow": users | room}.get(stage, room))
        if mutations and tests:
            options = ["-m", "slow"] if stage == "slow" else []
            how = {"is_checked": stage == "checked", "is_limited": False}
            for one, result in self.try_together(mutations, tests, *options, **how).items():
                self.note(one, stage, result)

    def check_tests(self) -> None:
        """Let mutations count as undetected whose test fails without them, too."""
        tests = {test for _, test in self.results.values() if "::" in test}
        options = ["-m", "slow or not slow"]
        _, failed = self.test(sorted(tests), *options, is_checked=False, is_limited=False) if tests else (0, [])
        for mutation, (stage, test) in list(self.results.items()):
            if test in failed:
                self.note(mutation, f"{stage}: {test} fails without it, too", SURVIVED)


def main() -> None:
    """Read the options, run the stages and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rooms", nargs="+", default=["kernels", "objectives", "corpora", "support/remote", "analysis"]
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=200, help="of mutations, shared by the rooms")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--jobs", type=int, default=0, help="processes of the tests; 0 runs them in one")
    parser.add_argument("--again", action="store_true", help="try the mutations that survived again, after new tests")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "embeddings-mutations"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the tests, too
    drawn = draw(options.rooms, options.seed, options.number)
    options.folder.mkdir(0o700, parents=True, exist_ok=True)
    workplace = Workplace(options.folder, options.jobs)
    if options.again:
        workplace.results = {one: result for one, result in workplace.results.items() if result[1] != SURVIVED}
    for number, stage in enumerate(STAGES):
        if stage in options.stages:
            last = {one: workplace.results.get(one, ("", SURVIVED)) for one in drawn}
            later = STAGES[number:]
            workplace.run_stage(
                stage, [one for one, (at, test) in last.items() if test == SURVIVED and at not in later]
            )
    workplace.check_tests()
    rows = [(one, *workplace.results[one]) for one in drawn if one in workplace.results]
    click.echo("\n| place | change | stage | detected by |\n| --- | --- | --- | --- |")
    click.echo("\n".join(one.row(stage, test) for one, stage, test in rows))
    click.echo(f"\n| tests | mutations | {' | '.join(STAGES)} | survived |\n|{' --- |' * (3 + len(STAGES))}")
    for folder in sorted({one.tests for one in drawn}):
        ends = [stage if test != SURVIVED else SURVIVED for one, stage, test in rows if one.tests == folder]
        click.echo(f"| {folder} | {len(ends)} | {' | '.join(str(ends.count(end)) for end in (*STAGES, SURVIVED))} |")


if __name__ == "__main__":
    main()

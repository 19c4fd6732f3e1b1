"""Changes the meaning of random lines of the product, one at a time, and reports the changes that no test detects.

Run from the root of the repository: `python tools/mutate.py --rooms kernels objectives --number 40`. It works on a
copy of the tree, so that nothing is changed if it is interrupted, with a cache of its own, where kernels are reused
whose sources are not mutated.

Each mutation is tried with the test files of its module, then with all tests of its room; `--checked` tries those that
survive in the checked build too, and `--slow` with the slow tests. A time-out or a crash counts as a detection.

Never mutated are lines whose change no test should see: annotations, docstrings and other strings, messages and the
arguments of errors, log lines, decorators, imports for types, and prefetch hints.

A mutation that survives needs a test, or a reason why it means the same. Common reasons: it changes the size of a block
or buffer that is large enough either way, the distance or condition of a prefetch, or a number of threads or requests.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from architecture import MAPPED, ROOT

from embeddings.support.cache_folder import cache_folder

SURVIVED = "SURVIVED"
SECONDS = 1800  # after which tests are stopped
FOLDERS = {"sklearn": "sklearn_estimators"}  # of tests whose room has another name
PASSED = (0, 5)  # exit statuses of pytest; 5: no test was selected

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
        room = parts[0] if parts[0] in MAPPED else parts[1]
        return f"tests/{FOLDERS.get(room, room)}"

    def row(self, result: str) -> str:
        """A row of a table, in which long sources are cut."""
        before, after = (textwrap.shorten(text, 90) for text in (self.before, self.after))
        return f"| {self.file}:{self.line} | `{before}` -> `{after}` | {result} |"


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
            start = starts[place.lineno - 1] + place.col_offset
            stop = starts[place.end_lineno - 1] + place.end_col_offset
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


class Workplace:
    """A copy of the tree, in which mutations are made and tests run."""

    def __init__(self, folder: Path, jobs: int = 0) -> None:
        self.tree, self.cache, self.jobs, self.stamp = folder / "tree", folder / "cache", jobs, int(time.time())
        left_out = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__")
        shutil.copytree(ROOT, self.tree, symlinks=True, ignore=left_out)
        self.cache.mkdir(0o700)
        if kernels := cache_folder("kernels"):
            shutil.copytree(kernels, self.cache / "kernels")

    def write(self, file: str, data: bytes) -> None:
        """Write a file of the copy, with a new time, so that no bytecode is out of date."""
        self.stamp += 1
        (self.tree / file).write_bytes(data)
        os.utime(self.tree / file, (self.stamp, self.stamp))

    def test(self, tests: list[str], *options: str, is_checked: bool = False) -> str:
        """Run tests in the copy; returns the first one that fails, or SURVIVED."""
        variables = {"PYTHONPATH": self.tree, "EMBEDDINGS_CACHE": self.cache, "EMBEDDINGS_CHECKED": int(is_checked)}
        command = ["pytest", "-qx", "-p", "no:cacheprovider", "-n", str(self.jobs), "--dist", "loadfile"]
        environment = os.environ | {name: str(value) for name, value in variables.items()}
        try:
            run = subprocess.run(
                [sys.executable, "-m", *command, *options, *tests],
                cwd=self.tree, env=environment, capture_output=True, text=True, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"time-out of {tests[0]}"
        failed = re.search(r"^(?:FAILED|ERROR) ([^ [\n]+)", run.stdout, re.MULTILINE)
        return SURVIVED if run.returncode in PASSED else failed[1] if failed else f"crash of {tests[0]}"

    def tests_of(self, mutation: Mutation) -> list[str]:
        """The test files of the name of the module or of its package; without any, all of its room."""
        path, folder = Path(mutation.file), self.tree / mutation.tests
        for name in (path.stem, f"{path.parent.name}_{path.stem}", path.parent.name):
            if found := [*folder.glob(f"test_{name}.py"), *folder.glob(f"test_{name}_*.py")]:
                return sorted(str(file.relative_to(self.tree)) for file in found)
        return [mutation.tests]

    def detect(self, mutation: Mutation, *, is_checked: bool = False, is_slow: bool = False) -> str:
        """The first test that detects a mutation and passes without it, or SURVIVED."""
        runs = [(self.tests_of(mutation), [], False), ([mutation.tests], [], False)]
        runs += [([mutation.tests], [], True)] * is_checked + [([mutation.tests], ["-m", "slow"], False)] * is_slow
        data = (self.tree / mutation.file).read_bytes()
        for tests, options, checked in runs:
            self.write(mutation.file, data[: mutation.start] + mutation.after.encode() + data[mutation.stop :])
            try:
                result = self.test(tests, *options, is_checked=checked)
            finally:
                self.write(mutation.file, data)
            fails_without = "::" in result and self.test([result], *options, is_checked=checked) != SURVIVED
            if result != SURVIVED and not fails_without:
                return result
        return SURVIVED


def main() -> None:
    """Read the options, try the mutations and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rooms = ["kernels", "objectives", "corpora", "support/remote", "analysis"]
    parser.add_argument("--rooms", nargs="+", default=rooms)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=200, help="of mutations, shared by the rooms")
    parser.add_argument("--checked", action="store_true", help="try mutations that survive in the checked build")
    parser.add_argument("--slow", action="store_true", help="try mutations that survive with the slow tests")
    parser.add_argument("--jobs", type=int, default=0, help="processes of the tests; 0 runs them in one")
    options = parser.parse_args()
    click.echo("| place | change | detected by |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="embeddings-mutations-") as folder:
        workplace, results = Workplace(Path(folder), options.jobs), []
        for one in draw(options.rooms, options.seed, options.number):
            results.append(workplace.detect(one, is_checked=options.checked, is_slow=options.slow))
            click.echo(one.row(results[-1]))
    click.echo(f"\n{results.count(SURVIVED)} of {len(results)} mutations survived")


if __name__ == "__main__":
    main()

"""Writes the rooms of the package and the way of a training run into CONTRIBUTING.md, from the code.

Run from the root of the repository: `python tools/architecture.py`.
"""

import ast
import re
import tomllib
from pathlib import Path

import grimp
from processes import with_part, write_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
MAPPED = ("corpora", "eval", "plugins")  # folders at the root
STOPS = (  # of `embeddings train skipgram`, in the order in which they begin
    "embeddings.cli.train.train",
    "embeddings.training.trainer.Trainer.train",
    "embeddings.training.training_data.prepare",
    "embeddings.corpora.corpus.Corpus.encode",
    "embeddings.corpora.encoder.Encoder.add",
    "embeddings.plugins.skipgram.SkipGram.plan",
    "embeddings.training.run.Run.train",
    "embeddings.training.executor.Threads.learn_until",
    "embeddings.training.worker.Worker.learn_chunk",
    "embeddings.training.stream.TokenStream.fill",
    "embeddings.training.checkpoints.CheckpointWriter.is_due",
    "embeddings.models.model.Model.save",
)


def file_of(module: str) -> Path:
    """The file of a module, relative to the root of the repository."""
    parts = module.split(".")[1:]
    path = Path(*parts) if parts and parts[0] in MAPPED else Path("embeddings", *parts)
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def layers() -> list[list[str]]:
    """The layers of rooms that `lint-imports` enforces, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[short(room.strip()) for room in layer.split("|")] for layer in contract["layers"]]


def short(room: str) -> str:
    """The name of a room without that of the package."""
    return room.removeprefix("embeddings.")


def summary(path: Path, name: str = "") -> str:
    """The first line of the docstring of a module, or of a function or method in it."""
    node: ast.AST = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for part in filter(None, name.split(".")):
        (node,) = (
            one for one in node.body  # type: ignore[attr-defined]
            if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == part
        )  # fmt: skip
    assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    return (ast.get_docstring(node) or "").split("\n")[0]


def room_imports() -> dict[str, set[str]]:
    """The rooms that each room imports, also within functions; imports for types are left out."""
    graph = grimp.build_graph("embeddings", exclude_type_checking_imports=True, cache_dir=None)
    rooms = [f"embeddings.{room}" for layer in layers() for room in layer]
    for room in rooms:
        graph.squash_module(room)
    found = {room: graph.find_modules_directly_imported_by(room) & set(rooms) - {room} for room in rooms}
    return {short(room): set(map(short, used)) for room, used in found.items()}


def direct(imports: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second, without those that follow from other pairs."""

    def below(room: str) -> set[str]:
        return imports[room].union(*map(below, imports[room]))

    order = [room for layer in layers() for room in layer]
    pairs = [
        (room, used) for room in order for used in imports[room]
        if not any(used in below(other) for other in imports[room] - {used})
    ]  # fmt: skip
    return sorted(pairs, key=lambda pair: (order.index(pair[0]), order.index(pair[1])))


def picture_of_rooms() -> str:
    """A diagram of the rooms: an arrow points to a room that is imported."""
    edges = [f"    {room} --> {used}" for room, used in direct(room_imports())]
    return "\n".join(["```mermaid", "flowchart TD", *edges, "```", ""])


def table_of_rooms() -> str:
    """A row for each room, from the top layer, with the first line of its docstring."""
    paths = [file_of(f"embeddings.{room}") for layer in layers() for room in layer]
    rows = [f"| `{path.parent if path.name == '__init__.py' else path}` | {summary(path)} |" for path in paths]
    return "\n".join(["| room | contents |", "| --- | --- |", *rows, ""])


def way_of_a_run() -> str:
    """A row for each stop of a training run."""
    rows = []
    for number, stop in enumerate(STOPS, 1):
        module, _, name = re.sub(r"\.(?=[A-Z]|\w+$)", ":", stop, count=1).partition(":")
        path = file_of(module)
        rows.append(f"| {number} | `{path}` | `{name}` | {summary(path, name)} |")
    return "\n".join(["| stop | file | function | what it does |", "| --- | --- | --- | --- |", *rows, ""])


PARTS = {"rooms": picture_of_rooms, "room table": table_of_rooms, "way of a run": way_of_a_run}


def drawn(page: str) -> str:
    """The page with the parts between their marks drawn again."""
    for name, draw in PARTS.items():
        page = with_part(page, name, f"\n{draw()}\n")
    return page


if __name__ == "__main__":
    write_text(drawn(PAGE.read_text(encoding="utf-8")), PAGE)

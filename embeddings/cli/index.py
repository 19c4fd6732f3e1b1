"""`embeddings index`: one subcommand for each installed kind of index, made from its settings."""

from typing import Any

import click

from embeddings.cli.command_classes import PluginGroup
from embeddings.cli.command_help import Command
from embeddings.cli.options import DOCUMENTS, FORCE, JSON, OUT_FOLDER, VECTOR_INPUT, from_settings
from embeddings.cli.output import note, print_json
from embeddings.indexes.index import INDEX_FOLDER, build_index
from embeddings.models.loading import load
from embeddings.support.docstrings import documentation


def index_command(name: str, kind: type) -> click.Command:
    """The subcommand for one kind."""

    def run(
        *, vectors: str, out: str, documents: bool, force: bool, as_json: bool, allow_pickle: bool, errors: str,
        **settings: Any,
    ) -> None:  # fmt: skip
        kind(**settings)  # refuses invalid values before the vectors are read
        INDEX_FOLDER.check_target(out, force=force)
        table = "documents" if documents else "vectors"
        index = build_index(load(vectors, allow_pickle=allow_pickle, errors=errors, table=table), name, **settings)
        index.save(out, force=force)
        if as_json:
            print_json({"out": out, **index.describe()})
        else:
            size = f"{index.bytes / 1e6:.1f} MB"
            note(
                f"built {name} index of {len(index.vectors):,} vectors in {index.seconds:.2f} s; saved {size} to {out}"
            )

    return Command(
        name,
        example=f"index {name} vectors.bin -o vectors.{name}",
        callback=run,
        help=documentation(kind),
        params=[
            click.Argument(["vectors"]),
            OUT_FOLDER,
            *from_settings(kind),
            DOCUMENTS,
            FORCE,
            JSON,
            *VECTOR_INPUT,
        ],
    )


command = PluginGroup(
    "index", "index", index_command, help="Build a nearest-neighbour index and save it, for `neighbours --index`."
)

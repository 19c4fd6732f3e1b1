"""`embeddings index`: index texts, or vectors."""

from pathlib import Path
from typing import Any

import click

from embeddings.cli.command_classes import PluginGroup
from embeddings.cli.command_help import Command, grouped
from embeddings.cli.options import (
    DOCUMENTS,
    JSON,
    OUT_FOLDER,
    OUTPUT,
    POOLING_OPTIONS,
    THREADS,
    VECTOR_INPUT,
    Output,
    from_settings,
    from_signature,
)
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.models.embed import embed
from embeddings.models.loading import load
from embeddings.support.docstrings import documentation
from embeddings.support.local_paths import may_exist
from embeddings.text_search.text_index import TextIndex
from embeddings.vectors.index import INDEX_FOLDER, build_index


def index_command(name: str, kind: type) -> click.Command:
    """The subcommand for one kind."""

    def run(
        *, vectors: str, out: str, documents: bool, output: Output, reading: dict[str, Any],
        **settings: Any,
    ) -> None:  # fmt: skip
        kind(**settings)  # refuses invalid values before the vectors are read
        INDEX_FOLDER.check_target(out, force=output.force)
        table = "documents" if documents else "vectors"
        index = build_index(load(vectors, table=table, **reading), name, **settings)
        index.save(out, force=output.force)
        if output.as_json:
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
            *OUTPUT[:2],
            *VECTOR_INPUT,
        ],
    )


COLUMN_OPTIONS = {"text_column": "NAME", "id_column": "NAME", "vector_column": "NAME"}
ALLOW_FAISS = from_signature(TextIndex, allow_faiss=None)


def report(index: TextIndex, message: str, as_json: bool, quiet: bool = False, **others: Any) -> None:
    """Print what was done to an index, and with `as_json` its properties."""
    if not quiet:
        note(message)
    if as_json:
        print_json({**others, **index.describe()})


MANY_TEXTS, FAST_KIND = 200_000, "lsh:rerank=800"  # of a million texts it reads 800 exactly
TEXTS = click.Argument(["texts"], nargs=-1, required=True)
INDEX = click.Argument(["index"])


@click.command(
    "texts",
    cls=Command,
    example="index texts model rows.parquet --text-column body --id-column id -o docs.index",
    params=[
        click.Argument(["model"]),
        TEXTS,
        OUT_FOLDER,
        *from_signature(TextIndex.build, **COLUMN_OPTIONS, kind="KIND[:NAME=VALUE,...]", dtype=None),
        *grouped("words", from_signature(TextIndex.build, stemming="LANGUAGE")),
        *grouped("vectors", from_signature(embed, **POOLING_OPTIONS), ("pool", "remove_components")),
        *from_signature(TextIndex.build, copy_model=None),
        THREADS,
        *OUTPUT,
    ],
)
def build_texts(
    *, model: str, texts: tuple[str, ...], out: str, fit_on: str | None, output: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Index the texts of TEXTS, for `embeddings search`: by the vectors that MODEL gives them, and by their words.

    MODEL is a saved model, or vectors in any format; - for none. TEXTS are files or folders: each line of plain text
    and each row of a table is a text.
    """
    source, paths = None if model == "-" else model, list(map(Path, texts))
    learned_from = None if fit_on is None else Path(fit_on)
    index = TextIndex.build(
        source, paths, out, fit_on=learned_from, force=output.force, progress=Bar(output.quiet), **options
    )
    pool = index.describe()["pool"]
    pooled = "" if source is None else f", with vectors of texts pooled by {pool}"
    report(index, f"indexed {quantity(len(index), 'text')} in {out}{pooled}", output.as_json, output.quiet, out=out)
    is_exact = source is not None and (options["kind"], options["dtype"]) == ("exact", "float32")
    if is_exact and len(index) >= MANY_TEXTS and not output.quiet:
        note(f"searches by vectors are faster, and find about 96 % of the nearest texts, with --kind {FAST_KIND}")


@click.command(
    "add",
    cls=Command,
    example="index add docs.index more.parquet",
    params=[
        INDEX,
        TEXTS,
        *from_signature(TextIndex.add, replace=None, **COLUMN_OPTIONS),
        THREADS,
        *from_signature(TextIndex, model="PATH", allow_faiss=None),
        *OUTPUT[1:],
    ],
)
def add_texts(
    *, index: str, texts: tuple[str, ...], model: str | None, allow_faiss: bool, output: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Add the texts of TEXTS to INDEX: all of them, or none if one cannot be added."""
    opened = TextIndex(index, model=model, allow_faiss=allow_faiss)
    number = opened.add(list(map(Path, texts)), progress=Bar(output.quiet), **options)
    message = f"added {quantity(number, 'text')} to {index}, which has {len(opened):,}"
    report(opened, message, output.as_json, output.quiet, added=number)


@click.command(
    "remove",
    cls=Command,
    example="index remove docs.index 17 18",
    params=[INDEX, click.Argument(["ids"], nargs=-1, required=True), *ALLOW_FAISS, JSON],
)
def remove_texts(*, index: str, ids: tuple[str, ...], allow_faiss: bool, as_json: bool) -> None:
    """Remove the texts with these IDS from INDEX: all of them, or none if one is not in it."""
    opened = TextIndex(index, allow_faiss=allow_faiss)
    number = opened.remove(ids)
    report(opened, f"removed {quantity(number, 'text')} from {index}, which has {len(opened):,}", as_json)


@click.command("compact", cls=Command, example="index compact docs.index", params=[INDEX, *ALLOW_FAISS, JSON])
def compact_texts(*, index: str, allow_faiss: bool, as_json: bool) -> None:
    """Merge what was added to INDEX, and drop what was removed: the smallest folder and the fastest search."""
    opened = TextIndex(index, allow_faiss=allow_faiss)
    opened.compact()
    report(opened, f"compacted {index}: {quantity(len(opened), 'text')}", as_json)


TEXT_COMMANDS = {str(one.name): one for one in (build_texts, add_texts, remove_texts, compact_texts)}


class IndexGroup(PluginGroup):
    """Kinds of indexes of vectors, and commands for indexes of texts; a path in place of a name means `texts`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands."""
        return [*TEXT_COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A subcommand; that for texts if the name is the path or address of a model, or - for none."""
        is_kind = cmd_name in super().list_commands(ctx)
        is_model = not is_kind and (cmd_name == "-" or may_exist(cmd_name))
        name = "texts" if is_model and cmd_name not in TEXT_COMMANDS else cmd_name
        return TEXT_COMMANDS.get(name) or super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that the first argument names; it stays an argument if it is a model."""
        command = self.get_command(ctx, args[0])
        if command is None and len(args) > 1 and not args[1].startswith("-") and not ctx.resilient_parsing:
            names = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"{args[0]!r:.80} is neither a model, as there is no such file, nor one of {names}")
        if command is not None and command in TEXT_COMMANDS.values():
            return command.name, command, args[args[0] in TEXT_COMMANDS :]
        return super().resolve_command(ctx, args)


command = IndexGroup(
    "index",
    "index",
    index_command,
    help="Index texts for `embeddings search`, or vectors for `neighbours --index`.\n\n"
    "`embeddings index MODEL TEXTS... -o OUT` is short for `embeddings index texts`.",
)

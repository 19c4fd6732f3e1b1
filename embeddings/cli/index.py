"""`embeddings index`: a command for each installed kind of index, made from its settings."""

import inspect
from typing import Any

import click

from embeddings.cli import common
from embeddings.cli.plugin_choice import Installed
from embeddings.errors import SettingError


def made(name: str, kind: type) -> click.Command:
    """The command of one kind."""
    from embeddings.cli.click_options import options

    @click.command(name, help=inspect.getdoc(kind))
    @click.argument("vectors")
    @click.option("-o", "--out", required=True, help="Where to save: a folder.")
    @click.option("--documents", is_flag=True, help="Of the vectors of documents of a saved model, not of its words.")
    @common.force
    @common.reading
    def run(
        vectors: str, out: str, documents: bool, force: bool, allow_pickle: bool, encoding_errors: str, **given: Any
    ) -> None:
        from embeddings.indexes.index_files import check_target

        try:
            kind(**given)
        except SettingError as error:
            raise click.UsageError(str(error)) from error
        check_target(out, force=force)
        table = "documents" if documents else "vectors"
        build_into(name, common.load(vectors, allow_pickle, encoding_errors, table), given, out, force)

    run.params += options(kind)
    return run


def build_into(name: str, vectors: Any, settings: dict[str, Any], out: str, force: bool) -> None:
    """Build, save, and say so."""
    from embeddings.indexes.index import build

    index = build(name, vectors, settings)
    index.save(out, force=force)
    size = f"{index.bytes / 1e6:.1f} MB"
    click.echo(
        f"{name} index of {len(vectors):,} vectors built in {index.seconds:.2f} s, {size} saved in {out}", err=True
    )


command = Installed("index", "index", made, help="Build an index of vectors and save it, for `neighbours --index`.")

"""`embeddings export`: vectors for other tools."""

import click

from embeddings.cli import shared


@click.command("export")
@click.argument("vectors")
@click.argument("out")
@click.option("--format", "name", help="word2vec-text, word2vec-binary or gensim; by the ending of OUT if not given.")
@shared.force
@shared.reading
def command(vectors: str, out: str, name: str | None, force: bool, allow_pickle: bool, encoding_errors: str) -> None:
    """Write VECTORS to the file OUT.

    The ending of OUT chooses the format: .kv gensim, .bin word2vec binary, .txt and .vec word2vec text.
    """
    from embeddings import formats
    from embeddings.files import check_output

    formats.by_name(name or formats.for_path(out))
    check_output(out, force=force)
    loaded = shared.load(vectors, allow_pickle, encoding_errors)
    loaded.save(out, format=name, force=force)
    click.echo(f"{len(loaded)} vectors of {loaded.dim} components written to {out}", err=True)

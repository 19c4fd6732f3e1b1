"""`embeddings info`: what a file or folder holds."""

from pathlib import Path
from typing import Any

import click

from embeddings.cli import shared


@click.command("info")
@click.argument("path")
@shared.as_json
@shared.reading
def command(path: str, as_json: bool, allow_pickle: bool, encoding_errors: str) -> None:
    """Print what a saved model or a vector file holds, and how it was made."""
    facts = model_facts(path) if Path(path).is_dir() else file_facts(path, allow_pickle, encoding_errors)
    if as_json:
        shared.print_json(facts)
        return
    for name, value in flat(facts):
        click.echo(f"{name}\t{shared.shown(value)}")


def model_facts(path: str) -> dict[str, Any]:
    """What a model folder says of itself."""
    from embeddings.model import Model

    model = Model.load(path)
    return {
        "format": "embeddings model",
        "model": model.name,
        "words": len(model.vectors),
        "dim": model.vectors.dim,
        "corpus_tokens": model.vocabulary.total,
        "tables": {"vectors": list(model.vectors.matrix.shape), **{k: list(v.shape) for k, v in model.tables.items()}},
        "settings": model.settings,
        "record": model.record,
        "packages": model.packages,
    }


def file_facts(path: str, allow_pickle: bool, encoding_errors: str) -> dict[str, Any]:
    """What a vector file holds."""
    from embeddings import formats

    loaded = shared.load(path, allow_pickle, encoding_errors)
    return {
        "format": formats.sniff(Path(path)),
        "words": len(loaded),
        "dim": loaded.dim,
        "counts": loaded.counts is not None,
        "first_words": " ".join(loaded.words[:10]),
    }


def flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested facts as pairs of a dotted name and a value."""
    pairs: list[tuple[str, Any]] = []
    for name, value in facts.items():
        pairs += flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return pairs

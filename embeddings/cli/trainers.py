"""`embeddings trainers`: what is installed."""

import inspect
from typing import Any

import click

from embeddings.cli import common


@click.command("trainers")
@common.as_json
def command(as_json: bool) -> None:
    """List the installed trainers: name, package, version, what it learns."""
    from embeddings import registry

    common.print_rows((row(name) for name in registry.available("trainer")), as_json)


def row(name: str) -> dict[str, Any]:
    """What is known of one trainer; one that does not load says why."""
    from embeddings import registry

    offers = registry.available("trainer")[name]
    return {
        "trainer": name,
        "package": " and ".join(registry.package(offer) for offer in offers),
        "version": " and ".join(offer.dist.version if offer.dist else "-" for offer in offers),
        "summary": summary(name),
    }


def summary(name: str) -> str:
    """The first line of a trainer's docstring, or why it cannot be used."""
    from embeddings import registry
    from embeddings.errors import RegistryError

    try:
        text = inspect.getdoc(registry.load("trainer", name)) or ""
    except RegistryError as error:
        return f"(unusable) {error}"
    return text.split("\n", 1)[0]

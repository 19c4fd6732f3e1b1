"""`embeddings trainers`: list the installed trainers."""

from typing import Any

from embeddings import registry
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON
from embeddings.cli.output import print_rows
from embeddings.errors import RegistryError
from embeddings.support.docstrings import documentation


@command_by_example("trainers", params=[JSON])
def command(as_json: bool) -> None:
    """List the installed trainers with package, version and summary."""
    print_rows(map(row, registry.find_all("trainer")), as_json)


def row(name: str) -> dict[str, Any]:
    """One trainer as a row."""
    entry_points = registry.find_all("trainer")[name]
    try:
        summary = documentation(registry.load("trainer", name)).split("\n", 1)[0]
    except RegistryError as error:
        summary = f"(unusable) {' '.join(str(error).split())}"
    return {
        "trainer": name,
        "package": " and ".join(registry.distribution_name(entry) for entry in entry_points),
        "version": " and ".join(entry.dist.version if entry.dist else "-" for entry in entry_points),
        "summary": summary,
    }

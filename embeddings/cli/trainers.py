"""`embeddings trainers`: list the installed trainers."""

from embeddings import registry
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON
from embeddings.cli.output import print_rows
from embeddings.errors import RegistryError
from embeddings.support.docstrings import documentation


@command_by_example("trainers", params=[JSON])
def command(as_json: bool) -> None:
    """List the installed trainers with package, version and summary."""
    rows = []
    for name, entry_points in registry.find_all("trainer").items():
        try:
            summary = documentation(registry.load("trainer", name)).split("\n", 1)[0]
        except RegistryError as error:
            summary = f"(unusable) {' '.join(str(error).split())}"
        package = " and ".join(registry.distribution_name(entry) for entry in entry_points)
        version = " and ".join(entry.dist.version if entry.dist else "-" for entry in entry_points)
        rows.append({"trainer": name, "package": package, "version": version, "summary": summary})
    print_rows(rows, as_json)

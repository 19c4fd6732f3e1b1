"""What several commands take and print."""

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors

INTERRUPTED = 130  # exit code after Ctrl-C

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tab-separated lines.")
force = click.option("--force", is_flag=True, help="Replace the output if it exists.")
top = click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many to print.")
restrict = click.option(
    "--restrict", type=click.IntRange(min=1), help="Only the first so many words, the most frequent, may be answers."
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read vectors."""
    errors = click.option(
        "--encoding-errors",
        type=click.Choice(["strict", "replace", "ignore"]),
        default="strict",
        show_default=True,
        help="What to do with words that are not UTF-8.",
    )
    pickle = click.option(
        "--allow-pickle", is_flag=True, help="Read gensim's own files, which can run code: only from who you trust."
    )
    return pickle(errors(command))


def load(path: str, allow_pickle: bool, encoding_errors: str, table: str = "vectors") -> "Vectors":
    """The vectors of a file or model folder, or another table of a model."""
    from embeddings.models.loading import load

    return load(path, allow_pickle=allow_pickle, errors=encoding_errors, table=table)


def tell_composed(vectors: "Vectors", words: Iterable[str]) -> None:
    """Say which words have no vector of their own, where one is composed for them."""
    unseen = [word for word in dict.fromkeys(words) if word not in vectors]
    if vectors.compose is not None and unseen:
        named = [f"{word} ({word.lower()!r} is)" if word.lower() in vectors else word for word in unseen]
        click.echo(f"composed, not among the {len(vectors)} words: {', '.join(named)}", err=True)


def load_whole(path: str, allow_pickle: bool, encoding_errors: str) -> "Model | Vectors":
    """The model of a path that holds one, or else its vectors."""
    from embeddings.models.loading import load_whole

    return load_whole(path, allow_pickle=allow_pickle, errors=encoding_errors)


def print_json(value: Any) -> None:
    """A value for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_rows(rows: Iterable[dict[str, Any]], as_json: bool = False) -> None:
    """Rows as JSON, or as a line of names and tab-separated lines, each as soon as it is there."""
    if as_json:
        print_json_rows(rows)
        return
    for number, row in enumerate(rows):
        if number == 0:
            click.echo("\t".join(row))
        click.echo("\t".join(shown(value) for value in row.values()))


def print_json_rows(rows: Iterable[dict[str, Any]]) -> None:
    """Rows as one JSON list; if something fails on the way, those that there are."""
    listed: list[dict[str, Any]] = []
    try:
        for row in rows:
            listed.append(row)
    except BaseException:  # an interrupt too
        if listed:
            print_json(listed)
        raise
    print_json(listed)


def check_paths(paths: Iterable[str]) -> None:
    """Refuse paths of vectors of which one is missing or in no known format, before there is work on any.

    Raises:
        FormatError: naming the path.
    """
    from embeddings.models.loading import holds_model

    for path in paths:
        holds_model(path)


def is_given(value: Any) -> bool:
    """Whether an option was given: 0 is a value, while None, False and no values at all are none."""
    return value is not None and value is not False and value != ()


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)

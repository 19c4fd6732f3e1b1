"""`embeddings phrases`: the phrases of a corpus, with counts, scores and types."""

from dataclasses import asdict
from typing import Any

import click

from embeddings.cli import common, corpus_options
from embeddings.cli.click_options import options


class Command(click.Command):
    """Its settings are those of `Phrases`, looked up when the command is used."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options, with those of the settings."""
        from embeddings.corpora.phrases.detection import Phrases

        known = super().get_params(ctx)
        return [*known[:-1], *options(Phrases), known[-1]]


def run(
    *,
    corpus: tuple[str, ...],
    out: str | None,
    force: bool,
    top: int,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Find, save, print."""
    from embeddings.cli.output_paths import check_apart
    from embeddings.cli.progress_bar import Reading, counted
    from embeddings.corpora import Corpus
    from embeddings.corpora.phrases.detection import Phrases
    from embeddings.support.files import check_file

    of_corpus = {str(option.name): given.pop(str(option.name)) for option in corpus_options.options()}
    settings = Phrases(**given)
    text = Corpus(*corpus, **of_corpus)
    if out is not None:
        check_apart(out, text)
        check_file(out, force=force)
    with Reading(quiet) as bar, text.encode(report=bar) as encoded:
        bar.tell(encoded)
        found = settings.find(encoded)
        bar.say(f"found {counted(len(found), 'phrase')}")
    if out is not None:
        found.save(out, force=force)
    common.print_rows((row(asdict(phrase)) for phrase in found.phrases[:top]), as_json)


def row(phrase: dict[str, Any]) -> dict[str, Any]:
    """A phrase as a line, with what is known of it."""
    known = {name: phrase[name] for name in ("count", "score", "type")}
    return {"phrase": " ".join(phrase["words"]), **known}


command = Command(
    "phrases",
    callback=run,
    help="Find words that stand side by side more often than chance would have it, print the best, and save all to "
    "FILE for `train --phrases`.",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        click.Option(["-o", "--out"], metavar="FILE", help="Where to save: tab-separated lines, the best first."),
        click.Option(["--force"], is_flag=True, help="Replace the output if it exists."),
        *corpus_options.options(),
        click.Option(
            ["--top"], type=click.IntRange(min=0), default=20, help="How many phrases to print.", show_default=True
        ),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of tab-separated lines."),
        click.Option(["--quiet"], is_flag=True, help="Say nothing but errors and results."),
    ],
)

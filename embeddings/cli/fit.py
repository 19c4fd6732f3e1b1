"""`embeddings fit`: composition learned from vectors that are there already."""

from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import common
from embeddings.cli.click_options import options
from embeddings.cli.config import read_config
from embeddings.cli.model_output import save
from embeddings.cli.progress_bar import Bar, counted
from embeddings.errors import SettingError
from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.plugins.tensor_indexing.gradient_descent import Epoch


class Fitting(Bar):
    """Progress of fitting, in passes over the phrases."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, "fitting")

    def __call__(self, type: str, number: int, epoch: "Epoch") -> None:
        """What a fit reports."""
        self.update(number, None, f"{type}  error {epoch.dev:.4f} (dev)  rate {epoch.rate:.2g}")

    def tell(self, model: "Model", out: str) -> None:
        """What was learned."""
        record = model.record
        for note in record["notes"]:
            self.say(note)
        for type, number in record["phrases"].items():
            curve = record["curve"][type]["tensor-indexing"]
            errors = [dev for _, dev, _ in curve if dev is not None]
            told = f", error of dev {min(errors):.4f} after {len(curve) - 1} passes" if errors else ""
            share = f", {record['additive_share'][type]:.0%} of it additive"
            self.say(f"{type}: {counted(number, 'phrase')}{told}{share}")
        self.say(f"fitted in {record['fit_seconds']:.1f} s; saved in {out}")


@click.command("fit")
@click.argument("vectors")
@click.option("-o", "--out", required=True, help="Where to save: a model folder.")
@common.force
@click.option("--config", is_eager=True, expose_value=False, callback=read_config, help="Settings in a TOML file.")
@click.option("--threads", type=click.IntRange(1, 1024), help="Threads that learn.  [default: all cores]")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="Settles which phrases are held out, and with --threads 1 every byte.",
)
@click.option(
    "--joiner", help="What joins the two words of a phrase in its token.  [default: as VECTORS were trained, else _]"
)
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
@common.reading
def command(
    *,
    vectors: str,
    out: str,
    force: bool,
    threads: int | None,
    seed: int,
    joiner: str | None,
    quiet: bool,
    allow_pickle: bool,
    encoding_errors: str,
    **given: Any,
) -> None:
    """Learn what phrases of two words mean, from VECTORS of words and of phrases, which stay as they are.

    VECTORS is a saved model or a file in any format. Phrases are those of --phrase-list, or all words that are two
    others with --joiner between them, such as red_car. OUT becomes a model folder for `embeddings compose` and
    `embeddings evaluate --phrases`. `embeddings train tensor-indexing` learns the vectors too.
    """
    from embeddings import registry
    from embeddings.models.model_files import check_target

    try:
        settings = registry.load("trainer", "tensor-indexing")(**given)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    check_target(out, force=force)
    source = common.load_whole(vectors, allow_pickle, encoding_errors)
    with Fitting(quiet) as bar:
        model = settings.fit(source, joiner=joiner, threads=threads, seed=seed, watch=bar)
    save(lambda place, model, force: model.save(place, force=force), model, out, force)
    bar.tell(model, out)


command.params += options(CompositionSettings)

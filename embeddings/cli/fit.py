"""`embeddings fit`: fit phrase composition to trained vectors."""

from typing import TYPE_CHECKING, Any

import click

from embeddings import registry
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, THREADS, VECTOR_INPUT, Output, from_settings, option, seed
from embeddings.cli.output import print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_folder_name, model_writer, save
from embeddings.models.loading import load_model_or_vectors
from embeddings.plugins.tensor_indexing.composition_settings import CompositionSettings

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.plugins.tensor_indexing.fitting import Epoch


def report_functions(model: "Model", out: str, bar: Bar) -> None:
    """Print the fitted functions."""
    record = model.record
    for note in record["notes"]:
        bar.notice(note)
    for type, number in record["phrases"].items():
        curve = record["curve"][type]["tensor-additive"]
        errors = [dev for _, dev, _ in curve if dev is not None]
        error = f", dev error {min(errors):.4f} after {len(curve) - 1} epochs" if errors else ""
        bar.notice(f"{type}: {quantity(number, 'phrase')}{error}, additive share {record['additive_share'][type]:.0%}")
    bar.notice(f"fitted in {record['fit_seconds']:.1f} s; saved to {out}")


@command_by_example(
    "fit model -o composition",
    params=[
        click.Argument(["vectors"]),
        option("-o --out", "Output model folder.", "FOLDER", required=True),
        *from_settings(CompositionSettings),
        option("--joiner", "String that joins the words of a phrase.  [default: as in training, else _]"),
        THREADS,
        seed("Random seed; also selects the held-out phrases."),
        *OUTPUT,
        *VECTOR_INPUT,
    ],
)
def command(
    *, vectors: str, out: str, output: Output, threads: int | None, seed: int, joiner: str | None,
    reading: dict[str, Any], **settings: Any,
) -> None:  # fmt: skip
    """Fit composition functions for two-word phrases to VECTORS of words and phrases.

    VECTORS is a saved model or a file in any format, and does not change. Phrases are those of --phrase-list, or all
    words of the vocabulary that join two of its words by --joiner, such as red_car. OUT is a model for `embeddings
    compose` and `embeddings evaluate --phrases`. To train vectors and functions together, use `embeddings train
    tensor-indexing`.
    """
    trainer = registry.load("trainer", "tensor-indexing")(**settings)
    check_folder_name(out)  # a file of vectors cannot hold composition functions
    write = model_writer(out, output.force)
    source = load_model_or_vectors(vectors, **reading)

    def report(type: str, number: int, epoch: "Epoch") -> None:
        bar.update(number, None, f"{type}  dev error {epoch.dev:.4f}  learning rate {epoch.learning_rate:.2g}")

    with Bar(output.quiet, "fitting") as bar:
        model = trainer.fit(source, joiner=joiner, threads=threads, seed=seed, report=report)
    save(write, model, out, output.force)
    report_functions(model, out, bar)
    if output.as_json:
        numbers = {name: model.record[name] for name in ("phrases", "additive_share")}
        seconds = round(model.record["fit_seconds"], 3)
        print_json({"out": out, "words": len(model.vectors), "dim": model.vectors.dim, "seconds": seconds, **numbers})

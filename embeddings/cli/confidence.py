"""The option `--confidence`: intervals from the replicates of a model."""

from typing import TYPE_CHECKING, Any

from embeddings.cli.options import option

if TYPE_CHECKING:
    from embeddings.analysis.confidence import ConfidentNeighbour, ConfidentSimilarity

CONFIDENCE = option(
    "--confidence",
    "Show how certain the results are, by the trainings that `embeddings stability` saved in FOLDER.",
    "FOLDER",
)


def spread(one: "ConfidentSimilarity") -> dict[str, Any]:
    """The interval of a cosine and its standard deviations, as columns."""
    return {"low": one.low, "high": one.high, "data_sd": one.data_sd, "seed_sd": one.seed_sd}


def neighbour_row(one: "ConfidentNeighbour", names: tuple[str, str]) -> dict[str, Any]:
    """A neighbour or an answer with its intervals; the columns of the word and its cosine have these names."""
    ranks = {"in_top": one.in_top, "rank_low": one.rank_low, "rank_high": one.rank_high}
    values = spread(one.similarity)
    interval = {name: values.pop(name) for name in ("low", "high")}
    return {
        names[0]: one.neighbour,
        names[1]: one.similarity.cosine,
        **interval,
        **ranks,
        **values,
    }

"""The composer of vectors by character n-grams, of a model that has a table of them."""

from embeddings.models.model import Model, saved_array
from embeddings.settings import check_value
from embeddings.support.foreign_files import format_errors
from embeddings.vectors.subwords import MAX_HASHES, SubwordVectors


def composer(model: Model, name: str = "ngrams") -> SubwordVectors:
    """The composer of a model with the settings min_n and max_n and a table of n-grams."""
    table = saved_array(model, name, (None, model.vectors.dim))
    with format_errors(f"the {model.name} model"):
        hashes = check_value("hashes", model.settings.get("hashes", 1), int, {"ge": 1, "le": MAX_HASHES})
        min_n, max_n = (check_value(key, model.settings.get(key), int, {}) for key in ("min_n", "max_n"))
        return SubwordVectors(table, min_n, max_n, hashes=hashes)

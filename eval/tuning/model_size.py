"""Classifiers of a limited file size."""

from embeddings.eval.tuning.trials import ModelSizeError
from embeddings.formats.fasttext_size import cutoff_for_size
from embeddings.models.classifier import Classifier

MIN_CUTOFF = 256  # rows; fastText does not go below either
MIN_LABELS = 256  # from which on the rows of labels are quantised too, as in fastText


def quantize_to_size(classifier: Classifier, size: int, seed: int = 1) -> tuple[Classifier, int]:
    """A quantised copy whose file has at most `size` bytes, and its cutoff.

    Raises:
        ModelSizeError: the copy would have too few rows.
    """
    options = {"dsub": min(2, classifier.output.shape[1]), "qnorm": True, "qout": len(classifier.labels) >= MIN_LABELS}
    rows = len(classifier.inputs.table)
    cutoff = cutoff_for_size(classifier, size, **options)
    if cutoff < min(MIN_CUTOFF, rows):
        raise ModelSizeError(f"{size:,} bytes hold only {cutoff} of {rows:,} rows: allow a larger file or a lower dim")
    return classifier.quantize(cutoff, **options, seed=seed), cutoff

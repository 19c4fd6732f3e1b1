"""The HTML that a notebook shows for a model."""

from typing import TYPE_CHECKING

from embeddings.support.html import Html, table, tag
from embeddings.vectors.vectors_html import vectors_html

if TYPE_CHECKING:
    from embeddings.models.model import Model

RECORD_FIELDS = ("seed", "threads", "words", "seconds", "words_per_second", "loss_by_epoch")


def model_html(model: "Model") -> Html:
    """Render the settings, the training record, the shapes of the tables, and the vectors."""
    record = {name: model.record[name] for name in RECORD_FIELDS if name in model.record}
    shapes = {name: array.shape for name, array in model.tables.items()}
    sections = {"settings": model.settings, "training": record, "tables": shapes}
    return tag(
        "div",
        tag("p", tag("b", "Model"), f" {model.name}"),
        *(
            tag("details", tag("summary", title), table([title, "value"], [[k, to_text(v)] for k, v in values.items()]))
            for title, values in sections.items()
            if values
        ),
        vectors_html(model.vectors),
    )


def to_text(value: object) -> str:
    """Format a value for one table cell."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(to_text, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

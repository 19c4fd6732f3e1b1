"""File formats of other tools; each one is an entry point of the group `embeddings.formats`.

To add a format, implement the protocol `Format` in `embeddings.vectors.format_dispatch`.
"""

from embeddings.vectors.format_dispatch import Format as Format
from embeddings.vectors.format_dispatch import names as names
from embeddings.vectors.format_dispatch import write as write
from embeddings.vectors.format_dispatch import write_model as write_model

__all__ = ["Format", "names", "write", "write_model"]

"""File formats of other tools, each an entry point of the group `embeddings.formats`.

To add a format, declare an instance of `Format` in this group; see its docstring.
"""

from embeddings.vectors.file_format import Format as Format
from embeddings.vectors.file_format import names as names
from embeddings.vectors.file_format import write as write
from embeddings.vectors.file_format import write_model as write_model

__all__ = ["Format", "names", "write", "write_model"]

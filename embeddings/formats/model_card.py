"""README.md of folders with static embeddings: what they contain, how texts are embedded, how they were made."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from embeddings.vectors.vectors import Vectors

README = "README.md"
LIBRARIES = {
    "model2vec": (
        "from model2vec import StaticModel\n\nmodel = StaticModel.from_pretrained(PATH)\nvectors = model.encode(texts)",
        "a token for unknown words is left out of the mean",
    ),
    "sentence-transformers": (
        "from sentence_transformers import SentenceTransformer\n\nmodel = SentenceTransformer(PATH)\n"
        "vectors = model.encode(texts)",
        "unknown words count as zero vectors, which changes the norm of a mean, not its direction",
    ),
}
CARD = """---
library_name: {library}
tags:
- static-embeddings
- sentence-similarity
- {library}
---

# Static embeddings

{words:,} words with {dim} components each, as {dtype}. A text is the mean of the vectors of its words; {unknown}.

```python
{code}
```

## How the vectors were made

{note}

Written by embeddings-toolkit {version}.
"""
UNWEIGHTED = "The vectors are as they were trained, without weights of words."


def write_card(vectors: Vectors, folder: Path, library: str, dtype: str, note: str | None) -> None:
    """Write the model card of a folder that `library` loads; `note` says how the vectors were made."""
    code, unknown = LIBRARIES[library]
    text = CARD.format(
        library=library, words=len(vectors), dim=vectors.dim, dtype=dtype, code=code, unknown=unknown,
        note=note or UNWEIGHTED, version=installed_version(),
    )  # fmt: skip
    (folder / README).write_text(text, encoding="utf-8")


def installed_version() -> str:
    """The version of this package."""
    try:
        return version("embeddings-toolkit")
    except PackageNotFoundError:
        return "(unknown version)"

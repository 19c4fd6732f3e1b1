"""The logger of this library, `embeddings`: INFO for what is read and trained, DEBUG for what is written.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
"""

import logging

log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())

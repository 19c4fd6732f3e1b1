"""What the library logs, as `embeddings` of `logging`: INFO on what is read and trained, DEBUG on what is written.

Nothing is shown unless a program asks for it, as by `logging.basicConfig(level=logging.INFO)`.
"""

import logging

log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())

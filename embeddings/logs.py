"""What the library logs, as `embeddings` of `logging`; nothing is shown unless a program asks for it.

logging.basicConfig(level=logging.INFO)
"""

import logging

log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())

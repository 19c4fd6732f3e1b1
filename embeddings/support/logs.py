"""The logger of this library, `embeddings`: INFO for what is read and trained, DEBUG for what is written.

NOTICE is for what explains a delay, such as compilation: the command line prints it unless it is told to be quiet.

Nothing is shown unless a program configures logging, for example by `logging.basicConfig(level=logging.INFO)`.
"""

import logging

NOTICE = 25  # between INFO and WARNING
logging.addLevelName(NOTICE, "NOTICE")
log = logging.getLogger("embeddings")
log.addHandler(logging.NullHandler())

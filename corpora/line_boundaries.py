"""Where lines and documents end in the text of the scanner. Compiled.

In a file blank lines separate documents; each item, such as a row of a table, is one document.
"""

from typing import Any

from embeddings.corpora.scan_state import (
    DOCUMENT_IS_DUE,
    FILES,
    ITEM_LINE,
    ITEMS,
    LINE_IS_BLANK,
    LINE_IS_OPEN,
    N_ENDS,
    N_LINES,
    N_STARTS,
    N_TOKENS,
)
from embeddings.corpora.word_break import SPACE
from embeddings.kernels.jit import inline

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

LINE_FEED = 10


@inline
def end_line(out: Any, state: Array, kind: Int) -> None:
    """Write the end of a line and, in a file, the start of a document if the line starts one."""
    if kind == FILES and state[LINE_IS_BLANK]:
        state[DOCUMENT_IS_DUE] = 1
    elif kind == FILES and state[DOCUMENT_IS_DUE]:
        start_document(out, state)
    out[1][state[N_ENDS]] = state[N_TOKENS]
    state[N_ENDS] += 1
    state[N_LINES] += 1
    state[LINE_IS_BLANK] = 1
    state[LINE_IS_OPEN] = 0


@inline
def start_document(out: Any, state: Array) -> None:
    """Write the start of a document at the current line."""
    out[2][state[N_STARTS]] = state[N_LINES]
    state[N_STARTS] += 1
    state[ITEM_LINE] = state[N_LINES]
    state[DOCUMENT_IS_DUE] = 0


@inline
def skip_code_point(out: Any, state: Array, kind: Int, point: Int, character_class: Int) -> None:
    """Handle a code point outside of tokens."""
    if point == LINE_FEED:
        end_line(out, state, kind)
    elif character_class != SPACE:
        state[LINE_IS_BLANK] = 0


@inline
def start_part(out: Any, state: Array, kind: Int) -> None:
    """Start a document with each item, unless the item continues from the last block."""
    if kind == ITEMS and state[DOCUMENT_IS_DUE]:
        start_document(out, state)


@inline
def end_part(out: Any, state: Array, kind: Int) -> None:
    """End the last line of a file or item if it has no line end; an empty item is one empty line."""
    if state[LINE_IS_OPEN] or (kind == ITEMS and state[N_LINES] == state[ITEM_LINE]):
        end_line(out, state, kind)
    state[DOCUMENT_IS_DUE] = 1

"""The state of the compiled scanner, an int64 array that is kept from block to block: what each of its items is."""

(
    N_TYPES,  # distinct words so far
    ARENA_END,  # start of the free space in the arena
    PENDING_SIZE,  # bytes of the unfinished token that waits there
    HELD_SIZE,  # and of it up to where it ends if nothing continues it
    MACHINE,  # the state of the machine that finds tokens
    LINE_IS_BLANK,  # the line has only white space so far
    DOCUMENT_IS_DUE,  # the next line that is not blank starts a document
    LINE_IS_OPEN,  # the text so far does not end with a line end
    ITEM_LINE,  # the first line of the current item
    N_TOKENS,  # so far, those of the batch included
    N_LINES,  # complete so far
    BATCH_SIZE,  # tokens to be looked up together
    N_BATCH,  # tokens that wait for it
    N_IDS,  # written to `out` for this block; likewise:
    N_ENDS,
    N_STARTS,
    SHIFT,  # from a 32-bit hash to a slot
    SEED,  # of hashes, an odd number
    TOO_LONG,  # a token was longer than MAX_TOKEN
    N_RAW,  # raw ids assigned so far; more than N_TYPES after words were pruned
    MAX_TYPES,  # the scanner stops when there are more types, so that the table can be pruned
    RESUME_PART,  # then it resumes in this part
    RESUME_BYTE,  # at this byte
) = range(23)
BATCH = 23  # start of the tokens of the batch: for each its start in the arena, length and hash
BATCH_COLUMNS, MAX_BATCH = 3, 32
STATE_SIZE = BATCH + BATCH_COLUMNS * MAX_BATCH
# kinds of text: in files blank lines separate documents; each item is one document
FILES, ITEMS = range(2)
MAX_TOKEN = 1 << 20  # bytes of a token

"""Compiled parser of JSON lines: finds the values of fields of the objects that are valid and in no way unusual."""

from typing import Any

from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.reading.cell_bytes import copy_bytes
from embeddings.corpora.reading.json_strings import decode_string, skip_string

Array = Any
Int = Any

END, N_LINES, IS_UNUSUAL = range(3)  # indices of `state`
START, STOP, KIND = range(3)  # of a value; strings without their quotes
MISSING, NULL, NUMBER, STRING, ESCAPED, OTHER = range(6)  # kinds of values
MAX_DEPTH = 60  # of objects and lists in a value
LINE_FEED, SPACE, TAB, CARRIAGE_RETURN = 10, 32, 9, 13
QUOTE, COMMA, COLON, MINUS, PLUS, POINT, ZERO = (ord(character) for character in '",:-+.0')
OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST = (ord(character) for character in "{}[]")
LOWER_E, LOWER_BIT = ord("e"), 32
NULL_WORD, TRUE_WORD, FALSE_WORD = tuple(b"null"), tuple(b"true"), tuple(b"false")


@inline
def skip_space(text: Array, i: Int, stop: Int) -> Int:
    """Return the place of the next byte of a line that is not white space."""
    while i < stop and (text[i] == SPACE or text[i] == TAB or text[i] == CARRIAGE_RETURN):
        i += 1
    return i


@inline
def is_digit(text: Array, i: Int, stop: Int) -> bool:
    """Whether there is a digit."""
    return bool(i < stop and ZERO <= text[i] < ZERO + 10)


@inline
def skip_digits(text: Array, i: Int, stop: Int) -> Int:
    """Return the place after one digit or more; negative if there is none."""
    if i < 0 or not is_digit(text, i, stop):
        return -1
    while is_digit(text, i, stop):
        i += 1
    return i


@inline
def skip_number(text: Array, i: Int, stop: Int) -> Int:
    """Return the place after a number; negative if there is none."""
    if i < stop and text[i] == MINUS:
        i += 1
    i = i + 1 if i < stop and text[i] == ZERO else skip_digits(text, i, stop)
    if 0 <= i < stop and text[i] == POINT:
        i = skip_digits(text, i + 1, stop)
    if 0 <= i < stop and text[i] | LOWER_BIT == LOWER_E:
        i += 1
        if i < stop and (text[i] == MINUS or text[i] == PLUS):
            i += 1
        i = skip_digits(text, i, stop)
    return i


@inline
def skip_word(text: Array, i: Int, stop: Int, word: Any) -> Int:
    """Return the place after a word; negative if it is not there."""
    if i + len(word) > stop:
        return -1
    for k in range(len(word)):
        if text[i + k] != word[k]:
            return -1
    return i + len(word)


@inline
def skip_scalar(text: Array, i: Int, stop: Int) -> Int:
    """Return the place after a string, number, truth value or null; negative if there is none, or an unusual one."""
    if i >= stop:
        return -1
    if text[i] == QUOTE:
        end, _ = skip_string(text, i, stop)
        return end + 1 if end >= 0 else -1
    if text[i] == NULL_WORD[0]:
        return skip_word(text, i, stop, NULL_WORD)
    if text[i] == TRUE_WORD[0]:
        return skip_word(text, i, stop, TRUE_WORD)
    if text[i] == FALSE_WORD[0]:
        return skip_word(text, i, stop, FALSE_WORD)
    return skip_number(text, i, stop)


@inline
def skip_key(text: Array, i: Int, stop: Int) -> Int:
    """Return the place of the value after a key and a colon; negative if they are not there."""
    end, _ = skip_string(text, skip_space(text, i, stop), stop)
    colon = skip_space(text, end + 1, stop)
    if end < 0 or colon >= stop or text[colon] != COLON:
        return -1
    return skip_space(text, colon + 1, stop)


@inline
def close_values(text: Array, i: Int, stop: Int, depth: Int, objects: Int) -> tuple[Int, Int, Int]:
    """Go on after a value to the next one; returns its place, negative if there is none, and what is open there."""
    while depth:
        i = skip_space(text, i, stop)
        if i >= stop:
            return -1, depth, objects
        if text[i] == COMMA:
            i = skip_key(text, i + 1, stop) if objects & 1 else skip_space(text, i + 1, stop)
            break
        if text[i] != (CLOSE_OBJECT if objects & 1 else CLOSE_LIST):
            return -1, depth, objects
        i, depth, objects = i + 1, depth - 1, objects >> 1
    return i, depth, objects


@inline
def skip_value(text: Array, i: Int, stop: Int) -> Int:
    """Return the place after the value at `i`; negative if it is not valid, or unusual."""
    depth, objects = 0, 0  # a bit for each object or list that is open, the last one lowest: whether it is an object
    while 0 <= i < stop:
        is_object = text[i] == OPEN_OBJECT
        if is_object or text[i] == OPEN_LIST:
            inner = skip_space(text, i + 1, stop)
            if inner < stop and text[inner] == (CLOSE_OBJECT if is_object else CLOSE_LIST):
                i = inner + 1
            elif depth == MAX_DEPTH:
                return -1
            else:
                depth, objects = depth + 1, objects << 1 | is_object
                i = skip_key(text, inner, stop) if is_object else inner
                continue
        else:
            i = skip_scalar(text, i, stop)
        if i >= 0:
            i, depth, objects = close_values(text, i, stop, depth, objects)
        if depth == 0:
            return i
    return -1


@inline
def find_column(text: Array, start: Int, stop: Int, names: Array, ends: Array) -> Int:
    """Return the number of the column with this name; negative if there is none."""
    begin = 0
    for column in range(ends.shape[0]):
        k = 0
        while k < stop - start and begin + k < ends[column] and text[start + k] == names[begin + k]:
            k += 1
        if k == stop - start and begin + k == ends[column]:
            return column
        begin = ends[column]
    return -1


@inline
def write_value(text: Array, i: Int, stop: Int, span: Array) -> Int:
    """Write where the value at `i` is; returns the place after it, negative if it is not valid, or unusual."""
    if i < stop and text[i] == QUOTE:
        end, has_escapes = skip_string(text, i, stop)
        span[START], span[STOP], span[KIND] = i + 1, end, ESCAPED if has_escapes else STRING
        return end + 1 if end >= 0 else -1
    end = skip_value(text, i, stop)
    span[START], span[STOP], span[KIND] = i, end, OTHER
    if end >= 0 and text[i] == NULL_WORD[0]:
        span[STOP], span[KIND] = i, NULL
    elif end >= 0 and (text[i] == MINUS or is_digit(text, i, stop)):
        span[KIND] = NUMBER
    return end


@inline
def find_fields(text: Array, i: Int, stop: Int, names: Array, ends: Array, spans: Array) -> bool:
    """Write the values of the fields of the object at `i`; returns whether the line is valid and not unusual."""
    spans[:, KIND] = MISSING
    i, is_first = i + 1, True
    while True:
        start = skip_space(text, i, stop)
        if is_first and start < stop and text[start] == CLOSE_OBJECT:
            i = start
            break
        end, has_escapes = skip_string(text, start, stop)
        i = skip_key(text, start, stop)
        if has_escapes or i < 0:
            return False
        column = find_column(text, start + 1, end, names, ends)
        if column < 0:
            i = skip_value(text, i, stop)
        elif spans[column, KIND] == MISSING:
            i = write_value(text, i, stop, spans[column])
        else:
            return False
        i = skip_space(text, i, stop)
        if i < 0 or i >= stop or text[i] != COMMA:
            break
        i, is_first = i + 1, False
    return bool(0 <= i < stop and text[i] == CLOSE_OBJECT and skip_space(text, i + 1, stop) == stop)


@inline
def are_usable(spans: Array) -> bool:
    """Whether the first column, the text, is a string or null, and the others, tags, also numbers."""
    for column in range(spans.shape[0]):
        kind = spans[column, KIND]
        if kind in (MISSING, OTHER) or (column == 0 and kind == NUMBER):
            return False
    return True


@entry_point
def find_lines(text: Array, begin: Int, names: Array, ends: Array, spans: Array, state: Array) -> int:
    """Find the values of columns in complete lines from byte `begin` on, up to an unusual line; returns their number.

    A line is unusual if it does not hold a valid object, or one of which the standard library could read something
    else: with repeated fields, escapes in names, parts of surrogate pairs, deep nesting, or NaN.

    Arguments:
        names: the names of the columns one after another in UTF-8, the text first; `ends`: where each ends (columns,).
        spans: output, (rows, columns, 3). Lines after the last row that fits remain; blank lines have no row.
        state: output: where the first line starts that was not found; the number of lines before it is added; whether
            it is unusual.
    """
    row, i = 0, begin
    state[IS_UNUSUAL] = False
    while row < spans.shape[0]:
        stop = i
        while stop < text.shape[0] and text[stop] != LINE_FEED:
            stop += 1
        if stop == text.shape[0]:
            break
        start = skip_space(text, i, stop)
        if start < stop:
            is_valid = text[start] == OPEN_OBJECT and find_fields(text, start, stop, names, ends, spans[row])
            if not (is_valid and are_usable(spans[row])):
                state[IS_UNUSUAL] = True
                break
            row += 1
        i = stop + 1
        state[N_LINES] += 1
    state[END] = i
    return row


@entry_point
def copy_strings(text: Array, spans: Array, column: Int, out: Array, ends: Array) -> int:
    """Write the strings of a column one after another in UTF-8, null as an empty one; returns their size.

    ends: output: where each string ends (rows,).
    """
    end = 0
    for row in range(spans.shape[0]):
        start, stop = spans[row, column, START], spans[row, column, STOP]
        if spans[row, column, KIND] == ESCAPED:
            end = decode_string(text, start, stop, out, end)
        else:
            copy_bytes(out, end, text, start, stop - start)
            end += stop - start
        ends[row] = end
    return end

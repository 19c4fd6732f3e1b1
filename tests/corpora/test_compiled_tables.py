"""The compiled parsers of tables give the rows, and the errors, of the standard library."""

import csv
import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from embeddings.corpora.reading import csv_rows, json_rows, record_rows
from embeddings.corpora.reading.encodings import Utf8Decoder, utf8_blocks
from embeddings.corpora.reading.text_rows import ColumnSelection, TokenRows
from embeddings.errors import CorpusError

TABLE = st.text(st.sampled_from('ab1é\n\n\r"",,,\t\0\U0001f600'), max_size=40)
SIZES = st.sampled_from([1, 2, 3, 7, 30, 1 << 18])


def read_rows(read, data, size, columns):
    """The texts, tags and kept columns of all rows, and the error if there is one."""
    blocks = utf8_blocks(io.BytesIO(data).read, size, Utf8Decoder("strict", "f"))
    rows = []
    try:
        for part in read(blocks, columns):
            if isinstance(part, TokenRows):
                texts = part.lists
            else:
                ends = part.ends.tolist()
                texts = [part.data[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]
            tags = part.tags if part.tags is not None else [None] * len(texts)
            kept = part.columns.to_pylist() if part.columns is not None else [None] * len(texts)
            rows += zip(texts, tags, kept, strict=True)
    except CorpusError as error:
        return rows, str(error)
    return rows, None


def read_csv(data, size, columns, min_compiled):
    """The rows of a CSV file, read by compiled code if it has at least `min_compiled` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "MIN_COMPILED", min_compiled)
        return read_rows(lambda blocks, columns: csv_rows.csv_rows(blocks, "f", columns, ","), data, size, columns)


@settings(deadline=None, max_examples=200)
@given(header=st.sampled_from(["a,b\n", '"a",b\r\n', "a,b\r", "a,b", "b\n"]), body=TABLE, size=SIZES)
@example(header="a,b\n", body='x,"y', size=1 << 18)
@example(header="a,b\n", body='\n\nx,y\r\r\n"1\n2","3"4,\n', size=2)
def test_any_csv_gives_the_same_rows_and_the_same_error(header, body, size):
    data = (header + body).encode()
    columns = ColumnSelection("b", ("a",) if "a" in header else (), None)
    expected, error = read_csv(data, size, columns, 1 << 18)
    rows, compiled_error = read_csv(data, size, columns, 0)
    assert compiled_error == error
    if error is None:
        assert rows == expected
        assert [text.decode() for text, _, _ in rows] == [
            row[-1] for row in list(csv.reader(io.StringIO(header + body, newline="")))[1:] if row
        ]
    else:
        assert rows[: len(expected)] == expected  # it may read more rows before the error


def test_large_tables_are_parsed_by_compiled_code(monkeypatch):
    """All but the last row, which has no line end."""
    monkeypatch.setattr(csv_rows.CsvReader, "read", counted := CountedRead(csv_rows.CsvReader.read))
    rows = [(f"t{i}", f'text "{i}", of\nlines') for i in range(20_000)]
    out = io.StringIO()
    csv.writer(out).writerows([("tag", "text"), *rows])
    data = out.getvalue().rstrip().encode()
    found, error = read_csv(data, 1 << 18, ColumnSelection(None, ("tag",)), 1 << 18)
    assert error is None
    assert [(tag, text.decode()) for text, tag, _ in found] == rows
    assert counted.rows == 2


class CountedRead:
    """A method that counts the rows that it returns."""

    def __init__(self, read):
        self.read = read
        self.rows = 0

    def __get__(self, reader, kind):
        def read():
            rows = self.read(reader)
            self.rows += len(rows)
            return rows

        return read


FIRST_LINE = b'{"text": "first", "tag": "\\u0001"}\n'
STRINGS = st.text(st.sampled_from('ab é\u2028\U0001f600"\\/\n\t\b\0\x7f'), max_size=6)
NUMBERS = ["0", "-0", "12", "-3.50", "1e5", "2E+07", "01", "-01", "1.", ".5", "-", "1e", "1e+", "+1", "0x1", "1 2"]
WORDS = ["null", "true", "false", "nul", "nulls", "True", "NaN", "-Infinity", "", '"', "'a'", "[1,]", '{"a":1,}', "[1}"]
ESCAPES = ["\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\u00E9", "\\u00g9", "\\u00", "\\x41", "\\/", "\\", "\t", "\x1f"]
RAW_STRINGS = st.lists(
    st.one_of(STRINGS.map(lambda text: json.dumps(text)[1:-1]), st.sampled_from(ESCAPES)), max_size=3
)
SCALARS = st.one_of(
    st.builds(json.dumps, STRINGS, ensure_ascii=st.booleans()),
    RAW_STRINGS.map(lambda parts: f'"{"".join(parts)}"'),
    st.sampled_from(NUMBERS + WORDS),
)
SPACES = st.sampled_from([""] * 6 + [" ", "\t \r", "\x0b", "\u3000"])
KEYS = st.sampled_from(["text"] * 4 + ["tag"] * 4 + ["x", "te\\u0078t", "text ", "té", "body.text", ""])


def spaced(draw, *parts):
    """The parts with white space between them."""
    return "".join(part + draw(SPACES) for part in parts)


@st.composite
def values(draw, depth=3):
    """A JSON value, or nearly one."""
    kind = draw(st.sampled_from(["scalar"] * 4 + ["list", "object", "broken"])) if depth else "scalar"
    if kind == "scalar":
        return draw(SCALARS)
    inner = draw(st.lists(values(depth - 1), max_size=3))
    if kind == "object":
        inner = [spaced(draw, f'"{draw(KEYS)}"', ":", value) for value in inner]
    opening, closing = {"list": "[]", "object": "{}", "broken": draw(st.sampled_from(["[}", "{]", "[", "((", "[,"]))}[
        kind
    ].ljust(2)
    return spaced(draw, opening, ",".join(inner), closing)


@st.composite
def lines(draw):
    """A line of a JSON lines file, mostly an object with the fields `text` and `tag`."""
    start = draw(st.sampled_from(["", "", "", " ", "\ufeff", "[", "x"]))
    if draw(st.integers(0, 9)) == 0:
        return start + draw(st.one_of(values(), SPACES))
    fields = [("text", draw(st.builds(json.dumps, STRINGS, ensure_ascii=st.booleans()))), ("tag", draw(SCALARS))]
    others = draw(st.lists(st.tuples(KEYS, values()), max_size=2)) if draw(st.booleans()) else []
    pairs = [spaced(draw, f'"{key}"', ":", value) for key, value in draw(st.permutations([*fields, *others]))]
    return (start if draw(st.integers(0, 9)) == 0 else "") + spaced(draw, "{", ",".join(pairs), "}")


def read_json(data, size, columns, policy, min_compiled):
    """The rows of JSON lines, read by compiled code from `min_compiled` bytes on, and the number of decoding errors."""
    decoder = Utf8Decoder(policy, "f")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rows, "MIN_COMPILED", min_compiled)

        def read(blocks, columns):
            return json_rows.json_rows(blocks, "f", columns, decoder, 30)

        return *read_rows(read, data, size, columns), decoder.errors


@settings(deadline=None, max_examples=200)
@given(
    body=st.lists(lines(), max_size=6).map("\n".join),
    size=st.sampled_from([40, 77, 1 << 18]),
    tags=st.sampled_from([(), ("tag",)]),
    policy=st.sampled_from(["strict", "replace", "ignore"]),
)
@example(
    body='{"text": "a", "tag": "1", "tag": "2"}\n{"text": null, "tag": null}\n', size=77, tags=("tag",), policy="strict"
)
@example(body='{"text": "a", "tag": 1.50, "x": [{"y": [[]]}, {}]}\n', size=77, tags=("tag",), policy="strict")
@example(body='{"text": ["a", "b"], "tag": 1}\n{"text": "b", "tag": 1}\n', size=1 << 18, tags=(), policy="strict")
@example(body='{"text": "' + "[" * 70 + '", "x": ' + "[" * 70 + "]" * 70 + "}\n", size=77, tags=(), policy="strict")
def test_any_json_lines_give_the_same_rows_and_the_same_error(body, size, tags, policy):
    data = FIRST_LINE + body.encode("utf-8", "surrogatepass")
    columns = ColumnSelection("text", tags)
    expected, error, n_errors = read_json(data, size, columns, policy, 1 << 18)
    rows, compiled_error, n_compiled_errors = read_json(data, size, columns, policy, len(FIRST_LINE))
    assert compiled_error == error
    assert rows[: len(expected)] == expected
    if error is None:
        assert (len(rows), n_compiled_errors) == (len(expected), n_errors)


@pytest.mark.parametrize("name", ["text", "tag", "other"])
def test_each_value_of_json_is_accepted_or_refused_as_by_the_standard_library(name):
    texts = [*ESCAPES, *map(chr, range(33)), "\\ud83d\\ue000", "\\ud83d\\ud83d", "\\u 123", "\\b\\f\\n\\r\\t", "\u2028"]
    for value in [*NUMBERS, *WORDS, *(f'"a{text}b"' for text in texts), *(f'["{text}"]' for text in texts)]:
        fields = {"text": '"a"', "tag": '"b"', "other": "0"} | {name: value}
        line = "{" + ",".join(f'"{key}":{field}' for key, field in fields.items()) + "}\n"
        data, columns = FIRST_LINE + line.encode("utf-8", "surrogatepass"), ColumnSelection("text", ("tag",))
        rows, error, n_errors = read_json(data, 1 << 18, columns, "replace", 1 << 18)
        compiled = read_json(data, len(FIRST_LINE), columns, "replace", len(FIRST_LINE))
        assert compiled[1:] == (error, n_errors), line
        assert error or compiled[0] == rows, line


def test_common_lines_are_parsed_by_compiled_code(monkeypatch):
    """All but those of the first bytes, which decide the columns, and one that is unusual."""
    parsed = []
    parse = record_rows.parse_object
    for module in (json_rows, record_rows):
        monkeypatch.setattr(module, "parse_object", lambda line, position: parsed.append(line) or parse(line, position))
    rows = [{"tag": i, "text": f'text "{i}", of\nlines é', "other": [{}, None, 1.5]} for i in range(20_000)]
    texts = [json.dumps(row, ensure_ascii=bool(row["tag"] % 2)) for row in rows]
    texts[15_000] = texts[15_000][:-1] + ', "text": "twice"}'
    rows[15_000]["text"] = "twice"
    data = "\n".join(texts).encode() + b"\n"
    found, error, _ = read_json(data, 1 << 18, ColumnSelection(None, ("tag",)), "strict", 1 << 18)
    assert error is None
    assert [(tag, text.decode()) for text, tag, _ in found] == [(str(row["tag"]), row["text"]) for row in rows]
    assert parsed == [*texts[: data[: 1 << 18].count(b"\n")], texts[15_000]]

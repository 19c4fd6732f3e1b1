"""JSON lines parsed by Arrow give the rows, and the errors, of the standard library."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from parsed_rows import read_rows

from embeddings.corpora.reading import record_rows
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.encodings import Utf8Decoder

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


def read_json(data, size, columns, policy="strict", *, with_arrow=True):
    """The rows of JSON lines, read by Arrow where it can or by the standard library only, and the decoding errors."""
    decoder = Utf8Decoder(policy, "f")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_rows, "N_CHECKED", 1)  # the first line decides the columns, so that Arrow reads the others
        if not with_arrow:
            patch.setattr(record_rows, "parse_lines", lambda *_: None)
        return *read_rows(
            lambda blocks: record_rows.JsonTable("f", blocks, decoder, 30), data, size, columns
        ), decoder.errors


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
@example(body='{"text":"a"} {"text":"c"}\n{"text":"a",\n"tag":"b"}', size=77, tags=(), policy="strict")
@example(body='{"text":"a"} {"text":"c"}\n{"text":"b","x":\n{}}\n', size=1 << 18, tags=(), policy="strict")
@example(body='{"text":"a","x":{}\n,"y":\n{}} {"text":"a"}\n', size=1 << 18, tags=(), policy="strict")
@example(body='{"text": "a"}\n\ufeff{"text": "a", "x": [NaN, ' + "9" * 5000 + "]}", size=77, tags=(), policy="strict")
@example(body='{"text": "a"}\r\n  \n{"text": "' + "word " * 2000 + '"}\n{"te', size=40, tags=(), policy="strict")
@example(body='{"text": "' + "[" * 70 + '", "x": ' + "[" * 70 + "]" * 70 + "}\n", size=77, tags=(), policy="strict")
def test_any_json_lines_give_the_same_rows_and_the_same_error(body, size, tags, policy):
    data = FIRST_LINE + body.encode("utf-8", "surrogatepass")
    columns = ColumnSelection("text", tags)
    expected, error, n_errors = read_json(data, size, columns, policy, with_arrow=False)
    rows, parsed_error, n_parsed_errors = read_json(data, size, columns, policy)
    assert parsed_error == error
    assert rows[: len(expected)] == expected
    if error is None:
        assert (len(rows), n_parsed_errors) == (len(expected), n_errors)


@pytest.mark.parametrize("name", ["text", "tag", "other"])
@pytest.mark.parametrize("first", [FIRST_LINE, b'{"text": "first", "tag": 7}\n'])
def test_each_value_of_json_is_accepted_or_refused_as_by_the_standard_library(name, first):
    texts = [*ESCAPES, *map(chr, range(33)), "\\ud83d\\ue000", "\\ud83d\\ud83d", "\\u 123", "\\b\\f\\n\\r\\t", "\u2028"]
    huge = "1" + "0" * 30
    for value in [*NUMBERS, huge, *WORDS, *(f'"a{text}b"' for text in texts), *(f'["{text}"]' for text in texts)]:
        fields = {"text": '"a"', "tag": "1" if b"7" in first else '"b"', "other": "0"} | {name: value}
        line = "{" + ",".join(f'"{key}":{field}' for key, field in fields.items()) + "}\n"
        data, columns = first + line.encode("utf-8", "surrogatepass"), ColumnSelection("text", ("tag",))
        rows, error, n_errors = read_json(data, len(first), columns, "replace", with_arrow=False)
        parsed = read_json(data, len(first), columns, "replace")
        assert parsed[1:] == (error, n_errors), line
        assert error or parsed[0] == rows, line


def test_common_lines_are_parsed_by_arrow(monkeypatch):
    """All but those of the first block, which decides the columns, and of a block with an unusual line."""
    parsed = []
    parse = record_rows.parse_object
    monkeypatch.setattr(
        record_rows, "parse_object", lambda line, position: parsed.append(line) or parse(line, position)
    )
    rows = [{"tag": i, "text": f'text "{i}", of\nlines é', "other": [{}, None, 1.5]} for i in range(20_000)]
    texts = [json.dumps(row, ensure_ascii=bool(row["tag"] % 2)) for row in rows]
    texts[15_000] = texts[15_000][:-1] + ', "text": "twice"}'
    rows[15_000]["text"] = "twice"
    data = "\n".join(texts).encode() + b"\n"
    found, error, _ = read_json(data, 1 << 15, ColumnSelection(None, ("tag",)))
    assert error is None
    assert [(tag, text.decode()) for text, tag, _ in found] == [(str(row["tag"]), row["text"]) for row in rows]
    assert texts[0] in parsed
    assert texts[15_000] in parsed
    assert len(parsed) < 1500


def test_long_lines_are_cut_at_their_ends_only(monkeypatch):
    monkeypatch.setattr("embeddings.corpora.reading.text_block.MAX_ROW", 1000)
    text = b"".join(b"%d" % number * length + b"\n" for number, length in enumerate([700, 990, 10, 600, 900], 1))
    for size in (50, 240, 300, 1000):
        blocks = [text[start : start + size] for start in range(0, len(text), size)]
        assert all(block.endswith(b"\n") for block in record_rows.line_blocks(blocks)), size

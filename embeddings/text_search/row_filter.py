"""Conditions on the columns of a table, such as `year >= 2000 and language in ["de", "en"]`."""

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from embeddings.errors import S, SettingError
from embeddings.printable import format_names

COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
FORM = 'such as: year == 2000 and language in ["de", "en"]'
MAX_LENGTH = 10_000  # characters of a condition


def matching_rows(rows: Any, condition: str) -> np.ndarray:
    """Which rows of a pyarrow table fulfil a condition, (rows,) bool; null fulfils no comparison.

    Arguments:
        condition: comparisons (==, !=, <, <=, >, >=, in, not in, is None, is not None) of columns with numbers,
            strings, True, False or lists, or of a part with a column of strings ("red" in title), joined by and, or,
            not and parentheses.

    Raises:
        SettingError: it is not such a condition, or a column is missing or of another type.
    """
    try:
        if len(condition) > MAX_LENGTH:
            raise SyntaxError(f"it has more than {MAX_LENGTH} characters")
        tree = ast.parse(condition.strip(), mode="eval").body
        expression = to_expression(tree, rows.schema)
        number = max(rows.column_names, key=len) + "_"  # the name of no column
        numbered = rows.append_column(number, pa.array(np.arange(rows.num_rows)))
        found = np.zeros(rows.num_rows, np.bool_)
        found[numbered.filter(expression).column(number).to_numpy()] = True
    except Exception as error:  # of Python's parser or Arrow
        reason = " ".join(str(getattr(error, "msg", error)).split())
        raise SettingError(
            f"{S.where} {condition!r:.200} must be a condition on columns, {FORM}; {reason:.200}"
        ) from None
    return found


def to_expression(node: ast.expr, columns: pa.Schema) -> Any:
    """The condition as an expression of pyarrow."""
    if isinstance(node, ast.BoolOp):
        first, *others = (to_expression(one, columns) for one in node.values)
        for other in others:
            first = first & other if isinstance(node.op, ast.And) else first | other
        return first
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~to_expression(node.operand, columns)
    if isinstance(node, ast.Name):
        if node.id not in columns.names:
            hint = f'; a string is quoted, as "{node.id:.80}"'
            raise SettingError(f"there is no column {node.id!r:.80}, only {format_names(columns.names)}{hint}")
        return pc.field(node.id)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return comparison(node, columns)
    raise SyntaxError("it has another form")


def comparison(node: ast.Compare, columns: pa.Schema) -> Any:
    """A comparison of a column as an expression of pyarrow."""
    kind, value = node.ops[0], node.comparators[0]
    if isinstance(kind, ast.In | ast.NotIn) and isinstance(node.left, ast.Constant) and isinstance(value, ast.Name):
        if not isinstance(node.left.value, str):
            raise SyntaxError("the part that a column is searched for must be a string")
        has_part = pc.match_substring(to_expression(value, columns), node.left.value)
        return has_part if isinstance(kind, ast.In) else ~has_part
    column = to_expression(node.left, columns)
    if isinstance(kind, ast.In | ast.NotIn):
        if not isinstance(value, ast.List | ast.Tuple | ast.Set):  # a string would be a list of its letters
            raise SyntaxError("in requires a list of values")
        listed = list(literal(value))
        values = [one for one in listed if one is not None]
        column = as_numbers(column, node.left, values, columns)
        # isin cannot tell the type of an empty list
        of_null = pc.scalar(True if None in listed else None)
        is_in = pc.if_else(column.is_valid(), column.isin(values) if values else pc.scalar(False), of_null)
        return is_in if isinstance(kind, ast.In) else ~is_in
    if isinstance(value, ast.Constant) and value.value is None:
        if isinstance(kind, ast.Is | ast.Eq):
            return column.is_null()
        if isinstance(kind, ast.IsNot | ast.NotEq):
            return column.is_valid()
        raise SyntaxError("None is neither more nor less than a value")
    if type(kind) not in COMPARISONS:
        raise SyntaxError("is compares with None only, == with other values")
    if isinstance(value, ast.Name):
        return COMPARISONS[type(kind)](column, to_expression(value, columns))
    column = as_numbers(column, node.left, [literal(value)], columns)
    return COMPARISONS[type(kind)](column, pc.scalar(literal(value)))


def literal(node: ast.expr) -> Any:
    """The value of a number, string, True, False or list."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise SyntaxError("columns are compared with numbers, strings, True, False or lists of them") from None


def as_numbers(column: Any, name: ast.expr, values: Any, columns: pa.Schema) -> Any:
    """A column of strings as numbers, null for empty cells, if it is compared with numbers: CSV has strings only."""
    is_compared = bool(values) and all(type(value) in (int, float) for value in values)
    is_text = isinstance(name, ast.Name) and (columns.field(name.id).type in (pa.string(), pa.large_string()))
    if not (is_compared and is_text):
        return column
    return pc.if_else(column != "", column, pc.scalar(pa.scalar(None, pa.string()))).cast(pa.float64())

"""Small arithmetic in study files: ``${2 * N * N}`` in a specification, ``completion_cycles / U`` for a column.

Names, numbers, ``+ - * / // %``, ``**``, parentheses and ``min``, ``max``: nothing else is evaluated.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import np, pd

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {"min": np.minimum, "max": np.maximum}
_WHAT = "arithmetic of names and numbers: + - * / // % ** ( ) min(a, b) max(a, b)"
_MAX_EXPONENT = 64
_EXPONENTS = f"an exponent of at most {_MAX_EXPONENT}"
_LONGEST, _SHOWN = 2000, 40
#: Whole numbers have at most so many bits, in between too: as many as floating-point numbers reach.
_MOST_BITS = 1024
_NUMBERS = f"numbers below 2^{_MOST_BITS}"
#: Whole numbers below this are exact as floating-point numbers.
_EXACT = 2**53
#: The first whole number that a column of whole numbers cannot hold.
_WHOLE = 2**63
_NAME = re.compile(r"[^\W\d][\w.]*")
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


@dataclass(frozen=True)
class _Where:
    """What an error says of an expression: where it stands, how it is written, and the name of each row of columns."""

    path: str
    text: str
    row: Callable[[int], str] | None = None

    def too_large(self, row: int | None = None) -> ConfigError:
        """The error for a number that is too large (in that row)."""
        where = f"at {self.row(row)} it is larger" if self.row is not None and row is not None else ""
        return ConfigError(self.path, f'"{self.text}"', _NUMBERS, where)


def evaluate(text: str, names: Mapping[str, Any], path: str, row: Callable[[int], str] | None = None) -> Any:
    """The value of ``text``; a name may contain dots (``workload.message_flits``). ``path`` says where it stands.

    Names may stand for columns. A number that is too large is an error then if ``row`` is given, which names a row for
    the message; else it is infinite.
    """
    tree = check(text, names, path)
    try:
        return _value(tree, names, _Where(path, text, row))
    except (TypeError, ArithmeticError, RecursionError) as error:
        raise ConfigError(path, f'"{text}"', "an expression that has a value", str(error)) from None


def check(text: str, names: Iterable[str], path: str) -> ast.expr:
    """The syntax tree of ``text``, which is arithmetic of ``names`` only; nothing is computed."""
    known = list(names)
    if len(text) > _LONGEST:
        raise ConfigError(path, f'"{text[:_SHOWN]}..."', f"at most {_LONGEST:,} characters", "split it into several")
    try:
        tree, nodes = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConfigError(path, f'"{text}"', _WHAT) from None
    for node, name in nodes:
        _check_exponent(node, path, text)
        if name is not None and name not in known:
            expected = f"names out of {', '.join(known) or '(none)'}"
            raise ConfigError(path, f'"{text}"', expected, did_you_mean(name, known))
    return tree


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[ast.expr, list[tuple[ast.expr, str | None]]]:
    """The syntax tree, and what it consists of, each with its name if it is one. The same text comes for each point."""
    tree = ast.parse(text.strip(), mode="eval").body
    named = (ast.Name, ast.Attribute)
    return tree, [(node, ast.unparse(node) if isinstance(node, named) else None) for node in _parts(tree)]


def _check_exponent(node: ast.expr, path: str, text: str) -> None:
    """An exponent that is written as a number is not too large."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        number = exponent.value if isinstance(exponent, ast.Constant) else None
        if isinstance(number, (int, float)) and not abs(number) <= _MAX_EXPONENT:
            raise ConfigError(path, f'"{text}"', _EXPONENTS)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """``node`` and what it consists of; ``ValueError`` for what is no arithmetic."""
    yield node
    if isinstance(node, ast.BinOp) and (type(node.op) in _BINARY or isinstance(node.op, ast.Pow)):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _parts(node.operand)
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        if not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            raise ValueError
        for argument in node.args:
            yield from _parts(argument)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise ValueError
    elif not isinstance(node, (ast.Name, ast.Attribute)):
        raise ValueError


def _value(node: ast.expr, names: Mapping[str, Any], where: _Where) -> Any:
    if isinstance(node, ast.Constant):
        return _bounded(node.value, where)
    if isinstance(node, ast.BinOp):
        left, right = (_value(side, names, where) for side in (node.left, node.right))
        if isinstance(left, pd.Series) or isinstance(right, pd.Series):
            return _of_columns(node.op, left, right, where)
        power = isinstance(node.op, ast.Pow)
        return _bounded(_power(left, right, where) if power else _BINARY[type(node.op)](left, right), where)
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, names, where)
    if isinstance(node, ast.Call):
        function = _FUNCTIONS[ast.unparse(node.func)]
        result = function(*(_value(argument, names, where) for argument in node.args))
        return result.item() if isinstance(result, np.generic) else result
    return names[ast.unparse(node)]


def _bounded(value: Any, where: _Where) -> Any:
    """``value``, if it is no number that is too large to go on with."""
    is_whole = isinstance(value, int)
    if (is_whole and value.bit_length() > _MOST_BITS) or (isinstance(value, float) and math.isinf(value)):
        raise where.too_large()
    return value


def _of_columns(op: ast.operator, left: Any, right: Any, where: _Where) -> pd.Series[Any]:
    """An operation of two sides, one of which is a column at least."""
    # NumPy has no larger whole numbers.
    left, right = (float(one) if isinstance(one, int) and abs(one) >= _WHOLE else one for one in (left, right))
    if isinstance(op, ast.Pow):
        found, has_value = _power_of_columns(left, right), left != 0
    else:
        found = _BINARY[type(op)](left, right)
        has_value = right != 0 if isinstance(op, _DIVISIONS) else True
        if pd.api.types.is_integer_dtype(found):
            # Whole numbers of NumPy overflow without a word.
            floats = _BINARY[type(op)](left * 1.0, right)
            found = found if (floats.abs() < _WHOLE).all() else floats
    if where.row is not None:
        too_large = np.flatnonzero(np.isinf(found) & np.isfinite(left) & np.isfinite(right) & has_value)
        if len(too_large):
            raise where.too_large(int(too_large[0]))
    return found


def _power_of_columns(left: Any, right: Any) -> pd.Series[Any]:
    """``left ** right``: there is no value where the exponent is too large."""
    # Whole numbers of NumPy would overflow without a word, and have no powers below 0.
    floats = (left * 1.0) ** right
    fits = np.abs(right) <= _MAX_EXPONENT
    found: pd.Series[Any] = floats.where(fits) if isinstance(right, pd.Series) else floats
    whole = all(pd.api.types.is_integer_dtype(np.asarray(side)) for side in (left, right)) and np.all(right >= 0)
    return found.astype("int64") if whole and (found.abs() < _EXACT).all() else found


def _power(left: Any, right: Any, where: _Where) -> Any:
    """``left ** right`` of numbers."""
    if not abs(right) <= _MAX_EXPONENT:
        raise ConfigError(where.path, f'"{where.text}"', _EXPONENTS)
    return left**right


def placeholders(value: Any) -> set[str]:
    """The names that the ``${...}`` inside ``value`` use, as far as they can be read."""
    if isinstance(value, Mapping):
        return placeholders(list(value.values()))
    if isinstance(value, list):
        return {name for inner in value for name in placeholders(inner)}
    if not isinstance(value, str):
        return set()
    return {name for match in _PLACEHOLDER.finditer(value) for name in names_in(match[1])}


def names_in(text: str) -> set[str]:
    """Every name in ``text``, also where it is no arithmetic."""
    return set(_NAME.findall(text))


def fill(value: Any, names: Mapping[str, Any], path: str) -> Any:
    """``value`` with every ``${...}`` in its strings replaced; a string that is one placeholder takes its type."""
    if isinstance(value, Mapping):
        return {k: fill(v, names, f"{path}.{k}" if path else str(k)) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, names, f"{path}[{i}]") for i, v in enumerate(value)]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole:
        return evaluate(whole[1], names, path)
    return _PLACEHOLDER.sub(lambda m: str(evaluate(m[1], names, path)), value)

"""Small arithmetic in study files: ``${2 * N * N}`` in a specification, ``completion_cycles / U`` for a column.

Names, numbers, ``+ - * / // %``, ``**``, parentheses and ``min``, ``max``: nothing else is evaluated.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flitwork.errors import ConfigError, did_you_mean

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {"min": np.minimum, "max": np.maximum}
_WHAT = "arithmetic of names and numbers: + - * / // % ** ( ) min(a, b) max(a, b)"
_MAX_EXPONENT = 64
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


def evaluate(text: str, names: Mapping[str, Any], path: str) -> Any:
    """The value of ``text``; a name may contain dots (``workload.message_flits``). ``path`` says where it stands."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ConfigError(path, f'"{text}"', _WHAT) from None
    try:
        return _value(tree, names, path, text)
    except (TypeError, ArithmeticError, RecursionError) as error:
        raise ConfigError(path, f'"{text}"', "an expression that has a value", str(error)) from None


def _value(node: ast.expr, names: Mapping[str, Any], path: str, text: str) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        if name in names:
            return names[name]
        raise ConfigError(path, f'"{text}"', f"names out of {', '.join(names) or '(none)'}", did_you_mean(name, names))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = (_value(side, names, path, text) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow) and not np.all(np.abs(right) <= _MAX_EXPONENT):
            raise ConfigError(path, f'"{text}"', f"an exponent of at most {_MAX_EXPONENT}")
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names, path, text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2 and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            result = function(*(_value(argument, names, path, text) for argument in node.args))
            return result.item() if isinstance(result, np.generic) else result
    raise ConfigError(path, f'"{text}"', _WHAT)


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

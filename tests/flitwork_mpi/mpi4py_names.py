"""The names of mpi4py's module ``MPI``, from the stubs of an installed mpi4py."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path


def names_in(stubs: Path) -> list[str]:
    """``Comm``, ``Comm.Send``, ...: the public names of the module and of its classes."""
    tree = ast.parse(stubs.read_text())
    found = []
    for node in tree.body:
        for name in _named(node):
            found.append(name)
            if isinstance(node, ast.ClassDef):
                found += [f"{name}.{inner}" for part in node.body for inner in _named(part)]
    return sorted({name for name in found if not any(part.startswith("_") for part in name.split("."))})


def _named(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    targets: Sequence[ast.expr] = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    yield from (target.id for target in targets if isinstance(target, ast.Name))

"""How long an example is."""

from __future__ import annotations

import ast
from pathlib import Path


def lines_of_code(path: Path) -> int:
    """Count the lines of a file without docstrings, comments and empty lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    blocks = (ast.ClassDef, ast.FunctionDef, ast.For, ast.With)
    spans = [(s.lineno, s.lineno if isinstance(s, blocks) else s.end_lineno or s.lineno) for s in statements]
    return len({line for first, last in spans for line in range(first, last + 1)})

"""Functions are short, as clippy holds it for Rust; ``make lint`` holds what may import what."""

import ast
from pathlib import Path

import fanin


def test_no_function_has_more_than_sixty_lines():
    """The lines of the body, without the doc string."""
    long = []
    for path in Path(fanin.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
                if body and (body[-1].end_lineno or 0) - body[0].lineno + 1 > 60:
                    long.append(f"{path.name}: {node.name}")
    assert long == []

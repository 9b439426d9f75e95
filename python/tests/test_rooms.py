"""The package's modules: no circle of imports, and every room imports from those above it only."""

import ast
from pathlib import Path

import fanin

ROOT = Path(fanin.__file__).parent

ROOMS = ["numbers", "scenario", "results", "run", "claims", "choose", "show", "imports", "cli"]
"""From below to above."""


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("fanin", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """What a module imports of the package, in functions and for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name.partition(".")[0] == "fanin"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "fanin":
            for each in node.names:
                whole = f"{node.module}.{each.name}"
                found.add(whole if whole in known or whole == "fanin._engine" else node.module)
    return found & known.keys()


GRAPH = {name: imports(path, modules()) - {name} for name, path in modules().items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The first circle found, as the way around it; empty if there is none."""
    done: set[str] = set()

    def search(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := search(other, [*way, name]):
                return found
        done.add(name)
        return []

    for name in sorted(graph):
        if found := search(name, []):
            return found
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert " -> ".join(circle(GRAPH)) == ""


def test_a_circle_would_be_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]


def test_rooms_import_from_lower_ones_only():
    def height(name: str) -> int:
        room = name.split(".")[1] if name.count(".") else ""
        return ROOMS.index(room) if room in ROOMS else -1

    upward = [f"{name} -> {other}" for name in GRAPH for other in GRAPH[name] if 0 <= height(name) < height(other)]
    assert upward == []


def test_every_folder_of_the_package_is_a_room_or_holds_data():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*ROOMS, "experiments"}

"""The package's modules: no circle of imports, rooms import from lower ones only, and functions are short."""

import ast
from pathlib import Path

import fanin

ROOT = Path(fanin.__file__).parent

ROOMS = ["numbers", "scenario", "imports", "results", "run", "claims", "choose", "show", "serve", "cli"]
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
    # The package itself has the version, which all may take, and exports what is in the rooms.
    inner = {name: others - {"fanin"} for name, others in GRAPH.items() if name != "fanin"}
    upward = [f"{name} -> {other}" for name in inner for other in inner[name] if height(name) < height(other)]
    assert upward == []


def height(name: str) -> int:
    """How high a module is: those beside the rooms are below them all, but for the command's entry."""
    room = name.split(".")[1]
    if room in ROOMS:
        return ROOMS.index(room)
    return len(ROOMS) if room == "__main__" else -1


def test_the_modules_beside_the_rooms_are_those_that_every_room_needs():
    beside = {name for name in GRAPH if name.count(".") == 1 and name.split(".")[1] not in ROOMS}
    assert beside == {
        "fanin.__main__",
        "fanin.command",
        "fanin.digests",
        "fanin.errors",
        "fanin.extension",
        "fanin.extras",
        "fanin.garbage",
        "fanin.harmless",
        "fanin.later",
        "fanin.names",
        "fanin.registry",
    }


def test_no_function_has_more_than_sixty_lines():
    """As clippy holds it for Rust: the lines of the body, without the doc string."""
    long = []
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
                if body and (body[-1].end_lineno or 0) - body[0].lineno + 1 > 60:
                    long.append(f"{path.name}: {node.name}")
    assert long == []


def test_every_folder_of_the_package_is_a_room_or_holds_data():
    built = ("__pycache__", "page")
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in built}
    assert folders == {*ROOMS, "experiments"}


def test_numpy_is_imported_by_python_and_not_inside_polars():
    """An interrupt while Polars imports it is a panic, whose text nobody can keep from being printed."""
    calling = [path for path in ROOT.rglob("*.py") if ".to_numpy()" in path.read_text()]
    assert calling == [ROOT / "later.py"], "which says so"

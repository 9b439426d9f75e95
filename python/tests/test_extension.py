import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fanin
from fanin import extension

PACKAGE = Path(fanin.__file__).parent


def with_engine(tmp_path, source):
    """A copy of the package with another engine beside it."""
    copy = tmp_path / "fanin"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "experiments"))
    if source is not None:
        (copy / "_engine.py").write_text(source)

    def python(*arguments, **variables):
        path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        environment = {**os.environ, "PYTHONPATH": path, **variables}
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path
        )

    return python


def test_an_old_engine_is_one_line_on_the_command_line(tmp_path):
    python = with_engine(tmp_path, 'def version(): return "0.0.1+12345678"')
    result = python("-m", "fanin", "list", "schemes")
    assert result.returncode == 3
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("error: the compiled engine has version 0.0.1+12345678 and lacks AckEvent")
    assert "run make" in result.stderr


def test_an_old_engine_is_an_import_error_elsewhere(tmp_path):
    result = with_engine(tmp_path, "")("-c", "import fanin")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("ImportError: the compiled engine has version unknown and lacks")


def test_an_engine_of_the_same_version_may_still_be_older(tmp_path):
    names = [name for name in extension.needed() if name not in ("schema", "version")]
    source = f'def version(): return "{fanin.__version__}+12345678"\n' + "\n".join(f"{name} = None" for name in names)
    result = with_engine(tmp_path, source)("-m", "fanin", "--version")
    assert (result.returncode, "lacks schema, but" in result.stderr) == (3, True)


def test_no_engine_at_all_says_how_to_get_one(tmp_path):
    result = with_engine(tmp_path, None)("-m", "fanin", "--version")
    assert result.returncode == 3
    assert "cannot be loaded" in result.stderr
    assert "run make" in result.stderr


def test_an_engine_of_its_user_is_named_by_what_it_is_and_checked(tmp_path):
    python = with_engine(tmp_path, None)
    (found,) = PACKAGE.glob("_engine*.so")
    own = shutil.copy2(found, tmp_path / "own.so")

    def shown(file):
        result = python("-m", "fanin", "--version", FANIN_ENGINE=str(file))
        return result.stdout.strip() or result.stderr.strip()

    version = re.escape(fanin.engine_version())
    assert (first := shown(own)) and re.fullmatch(rf"fanin \S+ \(engine {version}\.[0-9a-f]{{8}}\)", first)
    with own.open("ab") as file:
        file.write(b"another scheme")
    assert shown(own) != first
    (tmp_path / "text.so").write_text("no program")
    assert re.match(r"error: the engine \S+/text.so \(FANIN_ENGINE\) cannot be loaded", shown(tmp_path / "text.so"))
    code = tmp_path / "fanin/extension.py"
    code.write_text(code.read_text().replace(f'PACKAGE_VERSION = "{fanin.__version__}"', 'PACKAGE_VERSION = "9.9"'))
    assert re.search(rf"own.so \(FANIN_ENGINE\) has version {version}\S+, but this fanin needs version 9.9", shown(own))


def test_what_is_needed_is_what_the_stubs_promise():
    stubs = ast.parse((PACKAGE / "_engine.pyi").read_text())
    promised = next(ast.literal_eval(node.value) for node in stubs.body if isinstance(node, ast.Assign))
    assert extension.needed() == promised


def test_the_package_states_its_version_once():
    root = PACKAGE.parent.parent
    if (root / "pyproject.toml").is_file():
        assert f'version = "{fanin.__version__}"' in (root / "pyproject.toml").read_text()
    assert fanin.engine_version().partition("+")[0] == fanin.__version__


@pytest.mark.parametrize(("name", "handler"), [("fanin", signal.SIG_DFL), ("a-program.py", signal.default_int_handler)])
def test_ctrl_c_ends_a_command_without_a_traceback_while_it_is_imported(name, handler):
    asked = (
        f"import sys; sys.argv[0] = '/bin/{name}'; import fanin, signal; from fanin import command\n"
        "for _ in range(2): print(repr(signal.getsignal(signal.SIGINT))); command.interrupt()"
    )

    def handlers(before: str = "") -> list[str]:
        found = subprocess.run([sys.executable, "-c", before + asked], capture_output=True, text=True, check=True)
        return found.stdout.splitlines()

    while_imported, later = handlers()
    assert while_imported == repr(handler)
    assert later == repr(signal.default_int_handler)
    # What a shell started in the background ignores it, and goes on to.
    ignored = handlers("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n")
    assert ignored == [repr(signal.SIG_IGN)] * 2


@pytest.mark.parametrize("name", ["/bin/fanin", "-m"])
def test_ctrl_c_interrupts_a_command_whichever_way_it_was_started(name):
    # By the time that the command line has words of its own, -m has another name.
    asked = (
        f"import sys; sys.argv[0] = '{name}'; sys.orig_argv.append('fanin'); import fanin, signal\n"
        "sys.argv[0] = '/fanin/__main__.py'; from fanin import command; command.interrupt()\n"
        "print(repr(signal.getsignal(signal.SIGINT)))"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == repr(signal.default_int_handler)

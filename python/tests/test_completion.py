"""What TAB offers, asked for as a shell asks: by environment variables."""

import os
import subprocess
import sys

import pytest


def complete(cwd, line):
    """What bash is offered for the last word of a line; it takes an equals sign for a word of its own."""
    words = line.replace("=", " = ").split(" ")
    words = [word for index, word in enumerate(words) if word or index == len(words) - 1]
    asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_FANIN_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "fanin"]
    found = subprocess.run(command, cwd=cwd, env=os.environ | asked, capture_output=True, text=True, timeout=120)
    return found.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("fanin ra", "ranking"),
        ("fanin explain dct", "dctcp"),
        ("fanin explain transport.rto-m", "transport.rto-min"),
        ("fanin run sma", "small.toml"),
        ("fanin reproduce sdt", "sdtcp/fig9"),
        ("fanin list sch", "schemes"),
        ("fanin list experiments rc", "rcc"),
        ("fanin compare small.toml --schemes newreno,dc", "newreno,dctcp"),
        ("fanin capacity small.toml --scheme dc", "dctcp"),
        ("fanin run small.toml --set transport.sch", "transport.scheme="),
        ("fanin run small.toml --set traffic.bursts.sen", "traffic.bursts.senders="),
        ("fanin sweep small.toml --set transport.scheme=dc", "dctcp"),
        ("fanin tune small.toml --param scheme.dctcp.mark-t", "scheme.dctcp.mark-threshold="),
        ("fanin run small.toml --set traffic.bursts.kind=inc", "incast"),
        ("fanin run small.toml --set traffic.bursts.bytes-each=web", "web-search"),
        ("fanin run small.toml --set measure.probes=ss", "ssthresh"),
        ("fanin run small.toml --set network.topology=fat", "fat-tree"),
        ("fanin run small.toml --set transport.sack=t", "true"),
        ("fanin compare small.toml --goal query-p", "query-p99"),
        ("fanin compare small.toml --goal back", "background"),
        ("fanin claims --verdict not-", "not-run"),
    ],
)
def test_values_are_completed(work, line, offered):
    assert offered in complete(work, line)


def test_what_is_wrong_with_a_file_does_not_spoil_completion(work):
    (work / "small.toml").write_text("not TOML")
    assert "transport.scheme=" in complete(work, "fanin run small.toml --set transport.sch")


def test_fish_shows_what_an_option_does_beside_its_name(work):
    asked = {"_TYPER_COMPLETE_ARGS": "fanin run --js", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    asked |= {"_FANIN_COMPLETE": "complete_fish"}
    command = [sys.executable, "-m", "fanin"]
    found = subprocess.run(command, cwd=work, env=os.environ | asked, capture_output=True, text=True, timeout=120)
    assert found.stdout == "--json\tPrint one JSON value on stdout instead of text.\n"

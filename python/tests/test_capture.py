"""Wireshark's own TCP analysis of a capture counts what our table counts."""

import json
import shutil
import subprocess

import pytest

import fanin


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("senders", [8, 24])
def test_tshark_counts_our_retransmissions(cli, work, senders):
    # At the senders' interfaces, where each segment is seen once, before it can be lost.
    settings = ["--set", f"traffic.bursts.senders={senders}", "--set", "measure.capture=senders"]
    summary = json.loads(cli("run", "small.toml", "--json", *settings).out)
    # Its heuristics call a few first transmissions retransmissions, after a timeout that the capture cannot show.
    assert summary["retransmissions"] > 50
    assert cli("export", summary["stored"], "--to", "pcapng", "--out", "trace.pcapng").code == 0
    counted = tshark("trace.pcapng", "tcp.analysis.retransmission")
    assert counted == pytest.approx(summary["retransmissions"], rel=0.05)
    assert tshark("trace.pcapng", "_ws.malformed") == 0


def tshark(capture, display_filter):
    command = ["tshark", "-r", capture, "-Y", display_filter, "-T", "fields", "-e", "frame.number"]
    return len(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines())


def test_a_scenario_without_capture_has_none(work):
    assert fanin.Scenario("small.toml").run().output.capture() is None

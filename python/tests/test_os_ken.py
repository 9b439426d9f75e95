"""SDTCP's OpenFlow against another project's: os-ken reads and builds its messages, and controls its switch.

Run as a program in a network namespace of its own, this file is a session of os-ken with Open vSwitch.
"""

from __future__ import annotations

import json
import os
import queue
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("os_ken", reason="os-ken is not installed: pip install os-ken")
from os_ken.lib.packet import ethernet, ipv4, tcp
from os_ken.lib.packet.packet import Packet
from os_ken.ofproto import ofproto_parser, ofproto_protocol
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as of13
from test_linux_sdtcp import CONGESTION, PACKET_IN, run, runs

ANY = ofproto_protocol.ProtocolDesc(version=4)
"""Of OpenFlow 1.3, without a switch."""
OF_CONTROLLER = {
    ofp.OFPT_HELLO,
    ofp.OFPT_FEATURES_REQUEST,
    ofp.OFPT_PACKET_OUT,
    ofp.OFPT_FLOW_MOD,
    ofp.OFPT_MULTIPART_REQUEST,
    ofp.OFPT_BARRIER_REQUEST,
}
"""The messages that a controller sends."""
BUILT = Path(__file__).parents[2] / "crates/schemes/src/sdtcp/wire/tests/os-ken.txt"


def parsed(message: bytes) -> Any:
    """What os-ken understands of a message; nothing if it drops it."""
    return ofproto_parser.msg(ANY, *ofproto_parser.header(message), message)


def built(message: Any, transaction: int) -> bytes:
    """The bytes of a message of os-ken."""
    message.xid = transaction
    message.buf = None
    message.serialize()
    return bytes(message.buf)


def actions(message: bytes) -> list[Any]:
    """Those of a ``Packet_Out``, as os-ken reads them."""
    at, end, found = ofp.OFP_PACKET_OUT_SIZE, ofp.OFP_PACKET_OUT_SIZE + int.from_bytes(message[16:18], "big"), []
    while at < end:
        found.append(of13.OFPAction.parser(message, at))
        at += found[-1].len
    return found


def again(message: bytes) -> bytes:
    """A message of the controller, built by os-ken from what it says."""
    match message[1]:
        case ofp.OFPT_HELLO:
            # os-ken reads the bitmap of versions, but writes none.
            assert [element.versions for element in parsed(message).elements] == [[4]]
            return message
        case ofp.OFPT_FEATURES_REQUEST:
            mine = of13.OFPFeaturesRequest(ANY)
        case ofp.OFPT_BARRIER_REQUEST:
            mine = of13.OFPBarrierRequest(ANY)
        case ofp.OFPT_FLOW_MOD:
            mine = parsed(message)
        case ofp.OFPT_PACKET_OUT:
            buffer, port = struct.unpack_from("!II", message, 8)
            data = message[ofp.OFP_PACKET_OUT_SIZE + int.from_bytes(message[16:18], "big") :] or None
            mine = of13.OFPPacketOut(ANY, buffer, port, actions(message), data)
        case ofp.OFPT_MULTIPART_REQUEST if message[9] == ofp.OFPMP_PORT_DESC:
            mine = of13.OFPPortDescStatsRequest(ANY, 0)
        case ofp.OFPT_MULTIPART_REQUEST:
            cookie = int.from_bytes(message[32:40], "big")
            mine = flow_statistics(cookie, 2**64 - 1)
    return built(mine, int.from_bytes(message[4:8], "big"))


def flow_statistics(cookie: int = 0, mask: int = 0, switch: Any = ANY) -> Any:
    """A request for the counters of entries."""
    everywhere = ofp.OFPTT_ALL, ofp.OFPP_ANY, ofp.OFPG_ANY
    return of13.OFPFlowStatsRequest(switch, 0, *everywhere, cookie, mask, of13.OFPMatch())


@pytest.mark.parametrize("backend", ["simulator", pytest.param("linux", marks=runs)])
def test_os_ken_reads_and_builds_the_session(backend: str) -> None:
    kinds = set()
    for buffers in (True, False):
        for message in run(backend, scheme__sdtcp__poll="1ms", scheme__sdtcp__buffers=buffers).messages:
            kind = message[1]
            kinds.add(kind)
            if kind in OF_CONTROLLER:
                assert again(message).hex() == message.hex()
            else:
                # A match field of an experimenter that os-ken does not know: it drops the message.
                is_ours = kind == PACKET_IN and message[14] >= CONGESTION
                assert (parsed(message) is None) == is_ours, message.hex()
    of_switch = {
        ofp.OFPT_FEATURES_REPLY,
        ofp.OFPT_PACKET_IN,
        ofp.OFPT_MULTIPART_REPLY,
        ofp.OFPT_BARRIER_REPLY,
    }
    assert kinds == OF_CONTROLLER | of_switch


def connection(flags: tuple[int, int] | None = None) -> Any:
    """A match of a connection, in os-ken's words."""
    of = {"ipv4_src": "10.0.0.5", "ipv4_dst": "10.0.0.2", "tcp_src": 10_003, "tcp_dst": 5_001}
    return of13.OFPMatch(eth_type=0x0800, ip_proto=6, **of, **({"tcp_flags": flags} if flags else {}))


def entry(match: Any, acts: list[Any], command: int = ofp.OFPFC_ADD, switch: Any = ANY, **more: Any) -> Any:
    """A ``Flow_Mod`` that applies these actions."""
    then = [of13.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, acts)] if acts else []
    more |= {"out_port": ofp.OFPP_ANY, "out_group": ofp.OFPG_ANY}
    return of13.OFPFlowMod(switch, command=command, match=match, instructions=then, **more)


LIMIT = of13.OFPActionExperimenterUnknown(0x0002FA17, bytes.fromhex("0001000000000b68"))
"""SDTCP's action: advertise at most 2920 bytes."""


def test_what_os_ken_builds_is_what_the_decoder_is_tested_with() -> None:
    # Rust reads these lines, in wire/tests.rs: what it understands has the same bytes when it is written again.
    out, ack, data = of13.OFPActionOutput(4, 0), (0x10, 0x12), bytes(range(60))
    messages = {
        "error": of13.OFPErrorMsg(ANY, ofp.OFPET_BAD_REQUEST, ofp.OFPBRC_BUFFER_UNKNOWN, bytes([4, 13, 0, 24])),
        "echo-request": of13.OFPEchoRequest(ANY, b"there?"),
        "echo-reply": of13.OFPEchoReply(ANY, b"there?"),
        "features-request": of13.OFPFeaturesRequest(ANY),
        "packet-out-of-a-buffer": of13.OFPPacketOut(ANY, 17, 3, [out]),
        "packet-out-with-data": of13.OFPPacketOut(ANY, ofp.OFP_NO_BUFFER, 3, [out], data),
        "entry": entry(connection(), [out], cookie=2, idle_timeout=10, priority=10_000, buffer_id=17, flags=1),
        "window": entry(connection(ack), [LIMIT, out], cookie=4, hard_timeout=20, priority=20_000),
        "delete": entry(connection(), [], ofp.OFPFC_DELETE, cookie=3, priority=10_000),
        "delete-strict": entry(connection(ack), [], ofp.OFPFC_DELETE_STRICT, cookie=4, priority=20_000),
        "ports": of13.OFPPortDescStatsRequest(ANY, 0),
        "flow-statistics": flow_statistics(2, 2**64 - 1),
        "barrier-request": of13.OFPBarrierRequest(ANY),
    }
    lines = [f"{name} {built(message, number).hex()}\n" for number, (name, message) in enumerate(messages.items(), 1)]
    assert "".join(lines) == BUILT.read_text()


# The session with Open vSwitch.

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
HOSTS = 1, 2, 3
PATHS = 2, 3


def lacking() -> str | None:
    """Why Open vSwitch cannot run in a namespace here, if so."""
    if not Path("/usr/sbin/ovs-vswitchd").exists():
        return 'no Open vSwitch: "apt-get install openvswitch-switch" installs it'
    tried = subprocess.run([*NAMESPACE, "ip", "link"], capture_output=True, text=True, check=False)
    return f"no namespace: {tried.stderr.strip()}" if tried.returncode else None


@pytest.fixture(scope="module")
def session() -> SimpleNamespace:
    """What os-ken and Open vSwitch have said and done."""
    if reason := lacking():
        pytest.skip(reason)
    ended = subprocess.run(
        [*NAMESPACE, sys.executable, __file__], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return SimpleNamespace(**json.loads(ended.stdout))


def test_open_vswitch_speaks_with_os_ken(session: SimpleNamespace) -> None:
    assert session.features == {"datapath": 1, "buffers": 0}
    assert session.echo == "there?"
    assert session.packet_in == {"port": 1, "reason": ofp.OFPR_ACTION, "cookie": 1, "same": True}
    assert session.packet_out == 2, "the port by which the controller's frame left"
    assert session.counters == {"entry": 5, "port": 6, "queue": 6}, "the port also has the controller's frame"


def test_open_vswitch_refuses_the_window_action(session: SimpleNamespace) -> None:
    assert session.refused == [ofp.OFPET_BAD_ACTION, ofp.OFPBAC_BAD_EXPERIMENTER]


def test_a_select_group_keeps_a_connection_on_one_path(session: SimpleNamespace) -> None:
    # Its flowcells differ in the address of Ethernet, as RCCE's labels do.
    assert len(set(session.cells_in_group)) == 1
    assert set(session.connections_in_group) == set(PATHS)


def test_an_entry_for_each_label_chooses_a_flowcells_path(session: SimpleNamespace) -> None:
    assert session.cells_by_label == [PATHS[cell % 2] for cell in range(16)]


def called(words: str) -> None:
    """Runs a program to its end, or until it has gone to the background."""
    subprocess.run(words.split(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def start_switch(folder: str) -> None:
    """The bridge of a switch as in the guest, with a queue at each port."""
    os.environ |= {f"OVS_{name}DIR": folder for name in ("RUN", "LOG", "DB")}
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    database, remote = f"{folder}/conf.db", f"unix:{folder}/db.sock"
    called(f"ovsdb-tool create {database} /usr/share/openvswitch/vswitch.ovsschema")
    called(f"ovsdb-server {database} --remote=p{remote} --detach --no-chdir --pidfile")
    called("ovs-vsctl --no-wait init")
    called(f"ovs-vswitchd {remote} --detach --no-chdir --pidfile")
    words = "ovs-vsctl --id=@queue create queue other_config:max-rate=1000000000"
    words += " -- --id=@qos create qos type=linux-htb queues:0=@queue -- add-br switch -- set bridge switch"
    words += " datapath_type=netdev fail_mode=secure protocols=OpenFlow13 other-config:datapath-id=0000000000000001"
    for host in HOSTS:
        words += (
            f" -- add-port switch p{host} -- set interface p{host} ofport_request={host} -- set port p{host} qos=@qos"
        )
    called(words + " -- set-controller switch tcp:127.0.0.1:6653")


def start_controller() -> queue.Queue[Any]:
    """os-ken's, with an application that keeps each message of the switch."""
    from os_ken import cfg
    from os_ken.base import app_manager
    from os_ken.controller import handler, ofp_event

    messages: queue.Queue[Any] = queue.Queue()
    kinds = "SwitchFeatures EchoReply BarrierReply PacketIn FlowStatsReply PortStatsReply QueueStatsReply ErrorMsg"

    class Application(app_manager.OSKenApp):  # type: ignore[misc]
        OFP_VERSIONS = (4,)

        @handler.set_ev_cls(
            [getattr(ofp_event, f"EventOFP{kind}") for kind in kinds.split()],
            [handler.CONFIG_DISPATCHER, handler.MAIN_DISPATCHER],
        )
        def on_message(self, event: Any) -> None:
            messages.put(event.msg)

    cfg.CONF([], project="os_ken")
    manager = app_manager.AppManager.get_instance()
    manager.load_apps(["os_ken.controller.ofp_handler"])
    contexts = manager.create_contexts()
    manager.applications_cls["application"] = Application
    manager.instantiate_apps(**contexts)
    return messages


class Network:
    """The switch with a host at each port."""

    def __init__(self) -> None:
        for each in ("all", "default"):
            Path(f"/proc/sys/net/ipv6/conf/{each}/disable_ipv6").write_text("1")
        called("ip link set lo up")
        self.hosts = {}
        for host in HOSTS:
            called(f"ip link add h{host} type veth peer name p{host}")
            for end in ("h", "p"):
                called(f"ip link set {end}{host} up")
            self.hosts[host] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.hosts[host].bind((f"h{host}", 0x0800))

    def arrival(self) -> tuple[int, bytes]:
        """The port by which the next frame leaves the switch, and the frame."""
        ready, _, _ = select.select([self.hosts[port] for port in PATHS], [], [], 10)
        port = next(port for port in PATHS if self.hosts[port] in ready)
        return port, self.hosts[port].recv(2000)

    def cross(self, frame: bytes) -> int:
        """The port by which a frame of the first host leaves."""
        self.hosts[1].send(frame)
        port, arrived = self.arrival()
        assert arrived == frame
        return port


def frame(bits: int = 16, port: int = 10_003, label: int = 0) -> bytes:
    """A frame of a connection with these TCP flags, for a MAC address with a label."""
    packet = Packet()
    packet.add_protocol(ethernet.ethernet(f"02:00:00:00:00:{label:02x}", "02:00:00:00:01:01", 0x0800))
    packet.add_protocol(ipv4.ipv4(src="10.0.0.5", dst="10.0.0.2", proto=6))
    packet.add_protocol(tcp.tcp(port, 5_001, bits=bits))
    packet.serialize()
    return bytes(packet.data)


def talk(messages: queue.Queue[Any], network: Network) -> dict[str, Any]:
    """What is said and done."""
    features = messages.get(timeout=30)
    switch = features.datapath

    def ask(message: Any) -> Any:
        switch.send_msg(message)
        return messages.get(timeout=30)

    def add(match: Any, port: int, **more: Any) -> None:
        acts = [of13.OFPActionGroup(1) if port == ofp.OFPP_ANY else of13.OFPActionOutput(port, ofp.OFPCML_NO_BUFFER)]
        switch.send_msg(entry(match, acts, switch=switch, **more))
        ask(of13.OFPBarrierRequest(switch))
        # What Open vSwitch keeps of earlier packets follows its tables a little later.
        called("ovs-appctl -t ovs-vswitchd revalidator/wait")

    found: dict[str, Any] = {"features": {"datapath": features.datapath_id, "buffers": features.n_buffers}}
    found["echo"] = ask(of13.OFPEchoRequest(switch, b"there?")).data.decode()
    add(of13.OFPMatch(eth_type=0x0800, ip_proto=6, tcp_flags=(2, 2)), ofp.OFPP_CONTROLLER, cookie=1, priority=40_000)
    syn = frame(bits=2)
    network.hosts[1].send(syn)
    asked = messages.get(timeout=30)
    found["packet_in"] = {"port": asked.match["in_port"], "reason": asked.reason, "cookie": asked.cookie}
    found["packet_in"]["same"] = asked.data == syn
    output = [of13.OFPActionOutput(2)]
    switch.send_msg(of13.OFPPacketOut(switch, ofp.OFP_NO_BUFFER, asked.match["in_port"], output, asked.data))
    found["packet_out"], _ = network.arrival()
    add(connection(), 2, cookie=2, priority=10_000)
    for _ in range(5):
        network.cross(frame())
    wanted = flow_statistics(2, 2**64 - 1, switch)
    # Open vSwitch gathers them twice a second.
    replies = (ask(wanted).body[0].packet_count for _ in range(100) if not time.sleep(0.05))
    found["counters"] = {
        "entry": next((count for count in replies if count == 5), 0),
        "port": ask(of13.OFPPortStatsRequest(switch, 0, 2)).body[0].tx_packets,
        "queue": ask(of13.OFPQueueStatsRequest(switch, 0, 2, 0)).body[0].tx_packets,
    }
    refusal = ask(entry(connection((0x10, 0x12)), [LIMIT], switch=switch))
    found["refused"] = [refusal.type, refusal.code]
    buckets = [of13.OFPBucket(1, actions=[of13.OFPActionOutput(port)]) for port in PATHS]
    switch.send_msg(of13.OFPGroupMod(switch, ofp.OFPGC_ADD, ofp.OFPGT_SELECT, 1, buckets))
    add(of13.OFPMatch(), ofp.OFPP_ANY, priority=50_000)
    found["cells_in_group"] = [network.cross(frame(label=cell)) for cell in range(16)]
    found["connections_in_group"] = [network.cross(frame(port=10_000 + number)) for number in range(16)]
    for cell in range(16):
        add(of13.OFPMatch(eth_dst=f"02:00:00:00:00:{cell:02x}"), PATHS[cell % 2], priority=60_000)
    found["cells_by_label"] = [network.cross(frame(label=cell)) for cell in range(16)]
    return found


def main() -> None:
    """Prints what happens in the session."""
    network, messages = Network(), start_controller()
    with tempfile.TemporaryDirectory() as folder:
        try:
            start_switch(folder)
            print(json.dumps(talk(messages, network)), flush=True)
        finally:
            for program in ("ovs-vswitchd", "ovsdb-server"):
                subprocess.run(["ovs-appctl", "-t", program, "exit"], check=False)


if __name__ == "__main__":
    status = 1
    try:
        main()
        status = 0
    except Exception:
        traceback.print_exc()
    os._exit(status)  # os-ken's threads do not end.

"""What a module does with single packets: a program for the kernel of the Linux backend, which is its init.

One namespace has Linux's TCP, and a queueing discipline or a congestion control of a paper. The other has a socket for
raw frames, and this program makes every packet of the other end. Both are joined by a cable of 10 Gbit/s.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LIBC = ctypes.CDLL(None, use_errno=True)
OWN, PEER = "10.0.0.1", "10.0.0.2"
PORT = 80
SEGMENT = 1460
"""Bytes of data in a full segment without time stamps."""
SMALL = 3 * SEGMENT
"""No window of Linux is as small by itself."""
FIN, SYN, RST, ACK, ECE = 1, 2, 4, 16, 64
_CLONE_NEWNET, _FINIT_MODULE, _DELETE_MODULE, _POWER_OFF = 0x40000000, 313, 176, 0x4321FEDC


def called(result: int) -> int:
    """The result of a call, unless it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def load(module: str, parameters: str = "") -> None:
    """Loads a module from the folder of the kernel."""
    with Path(os.environ["MODULES"], f"{module}.ko").open("rb") as file:
        called(LIBC.syscall(_FINIT_MODULE, file.fileno(), parameters.encode(), 0))


def attribute(kind: int, value: bytes) -> bytes:
    """An attribute of a message to the kernel."""
    whole = struct.pack("=HH", 4 + len(value), kind) + value
    return whole + bytes(-len(whole) % 4)


def ask(kind: int, create: bool, body: bytes) -> None:
    """Sends a message to the kernel's routing socket, which may refuse it."""
    flags = 5 | (0x600 if create else 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        refused = -struct.unpack_from("=i", link.recv(4096), 16)[0]
    if refused:
        raise OSError(refused, os.strerror(refused))


def namespace() -> int:
    """Moves into a new namespace of networks."""
    called(LIBC.unshare(_CLONE_NEWNET))
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def end_of_cable(number: int) -> None:
    """Makes an end of the cable in this namespace."""
    values = {1: ("I", number), 2: ("I", 1 - number), 3: ("Q", 10**10), 4: ("Q", 5_000_000), 5: ("I", 38)}
    values |= {6: ("I", 1000), 7: ("Q", 0), 8: ("B", 0), 9: ("B", 0)}
    data = b"".join(attribute(kind, struct.pack("=" + form, value)) for kind, (form, value) in values.items())
    info = attribute(1, b"cable") + attribute(2, data)
    ask(16, True, bytes(16) + attribute(3, b"eth0\0") + attribute(18, info))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH22x", b"eth0", 0x81))


def discipline(name: str, create: bool = True, options: bytes = b"") -> None:
    """Puts a queueing discipline at the root of the interface, or takes it off."""
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex("eth0"), 0, 0xFFFFFFFF, 0)
    ask(36 if create else 37, create, body + attribute(1, name.encode() + b"\0") + options)


def port(pipe: int = 0) -> None:
    """Makes the interface a port of a switch, which divides so many bytes among its flows."""
    # cable.h has the numbers: room for 1,000 packets, and windows of one segment at least.
    values = dict.fromkeys(range(1, 31), 0) | {1: 1000, 28: pipe, 29: 1}
    long = {1, 3, 5, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 22, 23, 25, 28}
    packed = [attribute(kind, struct.pack("=Q" if kind in long else "=I", each)) for kind, each in values.items()]
    discipline("port", options=attribute(2, b"".join(packed)))


class Segment(NamedTuple):
    """A packet of Linux's TCP."""

    port: int
    flags: int
    seq: int
    ack: int
    window: int
    payload: int


class Peer:
    """The other end of all connections."""

    def __init__(self) -> None:
        load("cable")
        self.theirs = namespace()
        end_of_cable(1)
        self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.raw.bind(("eth0", 0x0800))
        self.ours = namespace()
        end_of_cable(0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            for request, address in ((0x8916, OWN), (0x891C, "255.255.255.0")):
                form = struct.pack("16sHH4s8x", b"eth0", socket.AF_INET, 0, socket.inet_aton(address))
                fcntl.ioctl(any_socket, request, form)
            self.mac = fcntl.ioctl(any_socket, 0x8927, struct.pack("16s24x", b"eth0"))[18:24]
        self.scales: dict[int, int] = {}
        # The interfaces are up a second later.
        time.sleep(2)

    def listen(self, seconds: float = 0.0005) -> list[Segment]:
        """What comes in this time."""
        found, until = [], time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and select.select([self.raw], [], [], left)[0]:
            frame = self.raw.recv(2048)
            if frame[23] == socket.IPPROTO_TCP and frame[26:30] == socket.inet_aton(OWN):
                port, _, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", frame, 34)
                payload = struct.unpack_from("!H", frame, 16)[0] - 20 - offset // 16 * 4
                if flags & SYN:
                    self.scales[port] = frame[frame.index(b"\x03\x03", 54) + 2]
                window <<= 0 if flags & SYN else self.scales.get(port, 0)
                found.append(Segment(port, flags, seq, ack, window, payload))
        return found

    def send(
        self, port: int, flags: int, seq: int, ack: int, payload: int = 0, options: bytes = b"", service: int = 0
    ) -> None:
        """Sends a packet to a port of Linux."""
        tcp = struct.pack(
            "!HHIIBBHHH", PORT, port, seq % 2**32, ack % 2**32, (5 + len(options) // 4) << 4, flags, 65535, 0, 0
        )
        body = tcp + options + bytes(payload)
        addresses = socket.inet_aton(PEER) + socket.inet_aton(OWN)
        checked = added(addresses + struct.pack("!HH", socket.IPPROTO_TCP, len(body)) + body)
        body = body[:16] + struct.pack("!H", checked) + body[18:]
        head = struct.pack("!BBHHHBBH", 0x45, service, 20 + len(body), 0, 0x4000, 64, socket.IPPROTO_TCP, 0) + addresses
        head = head[:10] + struct.pack("!H", added(head)) + head[12:]
        self.raw.send(self.mac + self.mac + b"\x08\x00" + head + body)

    def connection(self, prepare: Callable[[socket.socket], None] = lambda _: None) -> Connection:
        """A connection that Linux has opened, and that asks for an answer."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        prepare(sock)
        sock.setblocking(False)
        sock.connect_ex((PEER, PORT))
        (syn,) = self.listen()
        # The largest segment, and a scale of windows.
        options = b"\x02\x04" + struct.pack("!H", SEGMENT) + b"\x01\x03\x03\x00"
        self.send(syn.port, SYN | ACK | syn.flags & ECE, 1000, syn.seq + 1, options=options)
        assert [each.flags & SYN for each in self.listen()] == [0]
        return Connection(self, sock, syn.port, 1001, syn.seq + 1)


class Connection:
    """A connection as its other end has it."""

    def __init__(self, peer: Peer, sock: socket.socket, port: int, seq: int, ack: int) -> None:
        self.peer, self.sock, self.port, self.seq, self.ack = peer, sock, port, seq, ack

    def answer(self, payload: int = SEGMENT, flags: int = ACK, skip: int = 0, service: int = 0) -> None:
        """Sends the next data, or what comes behind `skip` bytes of it."""
        self.peer.send(self.port, flags | ACK, self.seq + skip, self.ack, payload, service=service)
        if not skip:
            self.seq += payload

    def of(self, heard: list[Segment]) -> list[Segment]:
        """Which of these packets are of this connection."""
        return [each for each in heard if each.port == self.port]


def added(data: bytes) -> int:
    """The checksum of the Internet."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def rcc_reset(peer: Peer) -> None:
    """A connection that is reset gives back what it was allowed, and others' acknowledgements leave."""
    load("rcc", "queue_max=1 ecn=off")
    discipline("rcc")
    for reset in (lambda one: one.peer.send(one.port, RST | ACK, one.seq, one.ack), lambda one: one.sock.close()):
        first, second = peer.connection(), peer.connection()
        first.answer()
        assert [each.ack for each in first.of(peer.listen())] == [first.seq]
        second.answer()
        assert peer.listen(0.003) == []
        reset(first)
        heard = peer.listen(0.001)
        assert [each.ack for each in second.of(heard)] == [second.seq]
        assert all(each.flags & RST for each in first.of(heard))
        second.peer.send(second.port, RST | ACK, second.seq, second.ack)
        peer.listen()


def rcc_resets(peer: Peer) -> None:
    """A reset is not held."""
    load("rcc", "queue_max=1 ecn=off")
    discipline("rcc")
    first, second = peer.connection(), peer.connection()
    first.answer()
    peer.listen()
    second.answer()
    assert peer.listen() == []
    # There is data that nobody has read.
    second.sock.close()
    (reset,) = second.of(peer.listen())
    assert reset.flags & RST


def rcc_windows(peer: Peer) -> None:
    """Windows have TCP's rules: slow start up to the threshold, and half of it after three segments out of order."""
    load("rcc", f"scheduler=off rto_r=off initial_threshold={8 * SEGMENT} mark_period=100s")
    discipline("rcc")
    one = peer.connection()
    # The connection began as one with time stamps.
    window, threshold, edge = SEGMENT - 12, 8 * SEGMENT, 0

    def allowed() -> bool:
        """Whether this is what the acknowledgement allows; the scale is 6, and nothing is taken back."""
        nonlocal edge
        # It may be delayed.
        (acknowledgement,) = peer.listen(0.05)
        edge = max(edge, acknowledgement.ack - (-max(window, edge - acknowledgement.ack) // 64) * 64)
        return acknowledgement.ack == one.seq and acknowledgement.window == edge - acknowledgement.ack

    def grow(segments: int) -> None:
        nonlocal window
        for _ in range(segments):
            one.answer()
            window += SEGMENT if window < threshold else SEGMENT * SEGMENT // window
            assert allowed()

    grow(12)
    for place in range(1, 4):
        one.answer(skip=place * SEGMENT)
        assert allowed()
    threshold = window = window // 2
    # A mark halves the threshold, which is the window once all has come.
    one.answer(skip=4 * SEGMENT, service=3)
    assert allowed()
    threshold = window = window // 2
    one.answer()
    one.seq += 4 * SEGMENT
    assert allowed()
    grow(12)


def rcc_pauses(peer: Peer) -> None:
    """A pause before a request is no round trip, so that the period of marks stays as short as one."""
    load("rcc", "scheduler=off rto_r=off g=1 mark_period=50us first_rtt=1s")
    discipline("rcc")
    one = peer.connection()
    for _ in range(4):
        one.answer()
        peer.listen(0.0001)
    time.sleep(0.010)
    one.sock.send(b"?")
    peer.listen(0.0001)
    one.ack += 1
    heard = []
    for service in (0, 3, 0):
        one.answer(service=service)
        one.answer(service=service)
        heard += peer.listen(0.0001)
        # To read two segments is acknowledged at once, which is else delayed after a request.
        one.sock.recv(2**20)
        heard += peer.listen(0.0002)
    _, marked, after = (each.window for each in heard)
    assert after < marked


def rcc_closed(peer: Peer) -> None:
    """A connection whose other end has closed is forgotten, but not before that end knows that its FIN has arrived."""
    load("rcc")
    discipline("rcc")
    one = peer.connection()
    for after, is_known in ((0.0, True), (0.020, False)):
        time.sleep(after)
        one.peer.send(one.port, ACK | FIN, one.seq, one.ack, SEGMENT)
        (acknowledgement,) = peer.listen()
        assert acknowledgement.ack == one.seq + SEGMENT + 1
        assert (acknowledgement.window <= SMALL) == is_known


def ictcp_closed(peer: Peer) -> None:
    """A connection that is closed is forgotten, and what Linux still sends for it does not begin it anew."""
    load("ictcp")
    discipline("ictcp")
    one = peer.connection()
    one.answer()
    (acknowledgement,) = peer.listen()
    assert acknowledgement.window <= SMALL
    one.sock.recv(SEGMENT)
    one.sock.close()
    (fin,) = peer.listen(0.001)
    assert fin.flags & FIN
    one.ack = fin.seq + 1
    # From the second one on the socket is gone.
    for _ in range(2):
        one.answer(0, FIN)
        (last,) = peer.listen()
        assert last.ack == one.seq + 1
        assert last.window > SMALL


def no_socket(peer: Peer) -> None:
    """What comes for no socket is answered by one that is not TCP's."""
    for name in ("rcc", "ictcp"):
        load(name)
        discipline(name)
        peer.send(4242, ACK, 1, 1, SEGMENT)
        (reset,) = peer.listen()
        assert reset.flags & RST
        discipline(name, create=False)


def end_interface(peer: Peer, connections: list[Connection], *modules: bytes) -> None:
    """Ends the namespace of the modules' interface, and then the modules, where a kernel for faults can unload them."""
    called(LIBC.setns(peer.theirs, 0))
    os.close(peer.ours)
    for one in connections:
        one.sock.close()
    time.sleep(5)
    for name in modules:
        LIBC.syscall(_DELETE_MODULE, name, os.O_NONBLOCK)
    time.sleep(1)


def taken_off(peer: Peer) -> None:
    """Acknowledgements are held and timers run when a queueing discipline is taken off, or its namespace ends."""
    load("rcc", "queue_max=1")
    load("ictcp")
    for name in ("rcc", "ictcp", "rcc"):
        discipline(name)
        for one in (connections := [peer.connection() for _ in range(3)]):
            one.answer()
        peer.listen(0.002)
        discipline(name, create=False)
        # Those that were held are gone, and the other end sends again.
        for one in connections:
            peer.send(one.port, ACK, one.seq - SEGMENT, one.ack, SEGMENT)
        assert {each.ack for each in peer.listen()} == {one.seq for one in connections}
    discipline("rcc")
    connections = [peer.connection() for _ in range(3)]
    for one in connections:
        one.answer()
    peer.listen(0.002)
    end_interface(peer, connections, b"rcc", b"ictcp")


def rcc_limits(peer: Peer) -> None:
    """A limit of no segments is refused, as no acknowledgement would leave."""
    for refused in ("queue_max=0", "queue_max=-1"):
        try:
            load("rcc", refused)
        except OSError as error:
            assert error.errno == errno.EINVAL
        else:
            raise AssertionError(refused)
    load("rcc", "queue_max=1")
    limit = Path("/sys/module/rcc/parameters/queue_max")
    for text, taken in (("0", "1"), ("7", "7")):
        with contextlib.suppress(OSError):
            limit.write_text(text)
        assert limit.read_text().strip() == taken


def unacknowledged(connections: list[Connection]) -> list[int]:
    """How many segments of each connection Linux still waits for."""
    infos = [one.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104) for one in connections]
    return [struct.unpack_from("I", info, 24)[0] for info in infos]


def held_at_edge(peer: Peer) -> list[Connection]:
    """Three connections to the peer, a host behind a switch whose edge holds the acknowledgements of two."""
    load("rcce", "queue_max=1 ecn=off")
    Path("/sys/module/rcce/parameters/attach").write_text("eth0")
    found = [peer.connection() for _ in range(3)]
    for one in found:
        one.sock.send(bytes(SEGMENT))
        one.ack += SEGMENT
        one.answer(0)
        peer.listen()
    # The first one allows a segment, and nothing comes.
    assert unacknowledged(found) == [0, 1, 1]
    return found


def edge_ends(peer: Peer) -> None:
    """Acknowledgements are held as the edge's module is unloaded, which some kernels can, or its interface ends."""
    found = held_at_edge(peer)
    if LIBC.syscall(_DELETE_MODULE, b"rcce", os.O_NONBLOCK) == 0:
        # Those that were held are gone, and the next ones pass.
        for one in found:
            one.answer(0)
        peer.listen()
        assert unacknowledged(found) == [0, 0, 0]
        found = held_at_edge(peer)
    end_interface(peer, found, b"rcce")


def sab_reset(peer: Peer) -> None:
    """A reset ends both directions of a connection, so that the share of the other one grows."""
    for there in (peer.theirs, peer.ours):
        called(LIBC.setns(there, 0))
        port(20 * SEGMENT)
    first, second = peer.connection(), peer.connection()
    for one, flows in ((first, 1), (second, 2)):
        one.answer()
        (acknowledgement,) = peer.listen(0.05)
        assert acknowledgement.window - 20 * SEGMENT // flows in range(64)
    # There is data that nobody has read.
    first.sock.close()
    (reset,) = peer.listen()
    assert reset.flags & RST
    second.answer()
    (acknowledgement,) = peer.listen(0.05)
    assert acknowledgement.window - 20 * SEGMENT in range(64)


def sdtcp_reports(peer: Peer) -> None:
    """A report that finds no room is counted."""
    port()
    module = os.open("/proc/cable_sdtcp", os.O_RDWR | os.O_NONBLOCK)
    # Each packet raises the level from none to low, and the level falls as soon as it has left.
    os.write(module, b"port 0 0 0 1 1000 1000 1 1500")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _ in range(2100):
            any_socket.sendto(b"?", (PEER, PORT))
            time.sleep(0.0001)
    found = 0
    with contextlib.suppress(BlockingIOError):
        while os.read(module, 64):
            found += 1
    lost = int(Path("/sys/module/cable/parameters/sdtcp_lost").read_text())
    assert (found, lost) == (4096, 104)


def sdtcp_rows(peer: Peer) -> None:
    """A table that is full refuses limits until one is forgotten."""
    module = os.open("/proc/cable_sdtcp", os.O_RDWR)
    for connection in range(65536):
        os.write(module, f"limit 0 1 2 {connection} 3 1000".encode())
    for words, refused in (
        ("limit 0 1 2 3 4 1000", True),
        ("forget 0 1 2 7 3", False),
        ("limit 0 1 2 3 4 1000", False),
    ):
        try:
            os.write(module, words.encode())
        except OSError as error:
            assert refused and error.errno == errno.ENOSPC
        else:
            assert not refused


def wrapped(peer: Peer, name: str, parameters: str) -> int:
    """The threshold after an echo for the first of ten segments, whose numbers pass 2^32."""

    def begin(sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        for option, value in ((19, 1), (20, 2), (21, 2**32 - 5 * SEGMENT), (19, 0)):
            sock.setsockopt(socket.IPPROTO_TCP, option, struct.pack("I", value))

    Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")
    load(f"tcp_{name}", parameters)
    one = peer.connection(begin)
    one.sock.send(bytes(10 * SEGMENT))
    assert len(peer.listen()) == 10
    one.ack += SEGMENT
    one.answer(0, ECE)
    peer.listen()
    info = one.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int(struct.unpack_from("I", info, 76)[0])


def l2dct_wraps(peer: Peer) -> None:
    """A flow that has sent little has the largest weight, whatever its numbers are."""
    alpha = 0.25 + 0.75 / 16
    assert wrapped(peer, "l2dct", "alpha0=0.25") == int(10 * (1 - alpha**2.5 / 2))


_ALL = (rcc_windows, rcc_pauses, rcc_reset, rcc_resets, rcc_closed, ictcp_closed, no_socket, taken_off, l2dct_wraps)
_ALL += (rcc_limits, edge_ends, sab_reset, sdtcp_reports, sdtcp_rows)
CASES = {case.__name__: case for case in _ALL}


def main() -> None:
    """Runs a case, says how it ended, and switches the machine off."""
    try:
        for kind, at in ((b"proc", b"/proc"), (b"sysfs", b"/sys")):
            called(LIBC.mount(kind, at, kind, 0, None))
        CASES[os.environ["CASE"]](Peer())
        print("passed", flush=True)
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    LIBC.reboot(_POWER_OFF)


if __name__ == "__main__":
    main()

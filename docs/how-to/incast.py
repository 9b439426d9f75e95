"""An incast in network namespaces: the host fan-0 asks others at once, and each answers with as many bytes.

python incast.py SENDERS BYTES ROUNDS prints one row. Needs root, for the namespaces. Connections stay open.
"""

from __future__ import annotations

import ctypes
import os
import socket
import statistics
import struct
import sys
import threading
import time
from pathlib import Path

ECN = 8
"""Bit of the options of TCP_INFO (include/uapi/linux/tcp.h): both ends agreed on ECN."""
RETRANSMISSIONS, DELIVERED_CE, TCP_INFO_BYTES = 100, 196, 200
"""Where TCP_INFO has the retransmitted segments, and those that arrived with a mark."""
_libc = ctypes.CDLL(None, use_errno=True)


def enter(host: int) -> None:
    """What this thread opens from now on is in the namespace of a host."""
    with Path(f"/run/netns/fan-{host}").open() as namespace:
        if _libc.setns(namespace.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"entering fan-{host}")


def listen(host: int) -> socket.socket:
    """A socket that accepts connections to a host."""
    enter(host)
    return socket.create_server((f"10.9.{host}.2", 5001))


def serve(listener: socket.socket, answer: bytes, ends: list[socket.socket]) -> None:
    """Answers each request of one connection."""
    connection, _ = listener.accept()
    ends.append(connection)
    while connection.recv(1):
        connection.sendall(answer)


def receive(connection: socket.socket, count: int) -> None:
    """Takes an answer of so many bytes."""
    while count:
        count -= len(connection.recv(min(count, 1 << 16)))


def lateness(stop: threading.Event, late: list[float]) -> None:
    """By how much a timer of 1 ms is late: what the load of this machine does to every timer here."""
    while not stop.is_set():
        begin = time.monotonic()
        time.sleep(0.001)
        late.append(time.monotonic() - begin - 0.001)


def jiffies() -> tuple[int, int]:
    """Idle ticks of all cores, and all ticks."""
    own = [int(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return own[3] + own[4], sum(own)


def main(senders: int, size: int, rounds: int) -> None:
    """Makes the queries, one after another, and prints what happened."""
    ends: list[socket.socket] = []
    listeners = [listen(host) for host in range(1, senders + 1)]
    for listener in listeners:
        threading.Thread(target=serve, args=(listener, bytes(size), ends), daemon=True).start()
    enter(0)
    connections = [socket.create_connection(listener.getsockname()) for listener in listeners]
    stop, late, times = threading.Event(), [], []
    clock = threading.Thread(target=lateness, args=(stop, late))
    clock.start()
    idle, ticks = jiffies()
    for _ in range(rounds):
        begin = time.monotonic()
        for connection in connections:
            connection.send(b"?")
        for connection in connections:
            receive(connection, size)
        times.append(time.monotonic() - begin)
    idle, ticks = (now - before for now, before in zip(jiffies(), (idle, ticks), strict=True))
    stop.set()
    clock.join()
    infos = [end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES) for end in ends]
    counted = {
        at: sum(struct.unpack_from("I", info, at)[0] for info in infos) for at in (RETRANSMISSIONS, DELIVERED_CE)
    }
    control = ends[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()
    row = {
        "control": control,
        "senders": senders,
        "mbps": f"{8e-6 * senders * size * rounds / sum(times):.1f}",
        "median_ms": f"{1e3 * statistics.median(times):.1f}",
        "max_ms": f"{1e3 * max(times):.1f}",
        "retransmitted": counted[RETRANSMISSIONS],
        "marked": counted[DELIVERED_CE],
        "ecn": sum(bool(info[5] & ECN) for info in infos),
        "idle_cpu_%": f"{100 * idle / max(ticks, 1):.0f}",
        "late_p99_ms": f"{1e3 * sorted(late)[len(late) * 99 // 100]:.2f}",
    }
    print("  ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    for connection in connections:
        connection.close()
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))

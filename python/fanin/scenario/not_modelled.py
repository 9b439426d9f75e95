"""What people look for that fanin does not model, and the tools that have it."""

from __future__ import annotations

import re

_HPCC = "HPCC's models for ns-3 have it: github.com/alibaba-edu/High-Precision-Congestion-Control"
_POWER = "PowerTCP's models for ns-3 have it: github.com/inet-tub/ns3-datacenter"
_HTSIM = "htsim has it: github.com/Broadcom/csg-htsim"
_UEC = "the Ultra Ethernet Consortium's htsim has it: github.com/ultraethernet/uet-htsim"
_BBR = "ns-3 has its first version (TcpBbr), and Linux its later ones: github.com/google/bbr"
_QUIC = "a module for ns-3 has it: github.com/signetlabdei/quic"

ELSEWHERE = {
    "RDMA": (_HPCC, "RoCE", "RoCEv2", "InfiniBand", "iWARP", "go-back-n"),
    "TIMELY": (_HPCC,),
    "PINT": (_HPCC,),
    "PowerTCP": (_POWER,),
    "EQDS": (_HTSIM,),
    "MPTCP": (_HTSIM, "Multipath TCP"),
    "UEC": (_UEC, "UET", "Ultra Ethernet", "NSCC", "RCCC"),
    "BBR": (_BBR, "BBRv1", "BBRv2", "BBRv3"),
    "QUIC": (_QUIC, "HTTP/3"),
}
"""Name -> the tool that has it, and its other names or those of its parts."""

SCOPE = "TCP whose switches drop, mark or trim packets"
"""What fanin is for."""


def name_other_tool(name: str) -> str | None:
    """What to say of a name that fanin does not model but another tool has; ``None`` for any other."""
    for known, (tool, *others) in ELSEWHERE.items():
        if _folded(name) in map(_folded, (known, *others)):
            return f"{name}: not modelled. fanin is for {SCOPE}; {tool}"
    return None


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

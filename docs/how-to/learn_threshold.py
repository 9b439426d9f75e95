"""Learns when DCTCP's switch should mark: a policy of three numbers, by the cross-entropy method.

python learn_threshold.py prints what it learned, and how it does on seeds that it has not seen. It needs gymnasium.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

import fanin
import fanin.env

SENDERS = 16
STEP, PER_STEP = "100us", 10e9 * 100e-6 / 8
"""The time between two decisions, and the bytes that the link carries in it."""

DEFAULT, FIXED = 65, (5, 10, 20, 30, 40, 50, 65, 80, 100)
"""DCTCP's own threshold at 10 Gbit/s, and all that are tried, in packets."""

Policy = Callable[[np.ndarray], float]
"""From an observation to a threshold in packets."""


def scenario() -> fanin.Scenario:
    """Two long flows, and short answers of many servers that share the port with them."""
    return fanin.Scenario(
        network={"topology": "star", "rate": "10Gbps", "delay": "25us", "buffer": "300KB"},
        transport={"scheme": "dctcp", "rto-min": "5ms"},
        traffic=[
            {"name": "bulk", "kind": "background", "flows": 2},
            {
                "name": "reads",
                "kind": "incast",
                "senders": SENDERS,
                "bytes-each": "20KB",
                "rounds": 1000,
                "gap": "1ms",
                "jitter": "20us",
                "start": "2ms",
            },
        ],
        run={"duration": "20ms"},
    )


def reads(seen: fanin.Observation) -> float:
    """The share of the servers whose answers are under way."""
    return float((seen.flow_group == seen.groups.index("reads")).sum()) / SENDERS


def reward(seen: fanin.Observation) -> float:
    """What long flows get of the link, minus the share of servers that keep the client waiting."""
    return float(seen.delivered_bytes[seen.groups.index("bulk")]) / PER_STEP - reads(seen)


def environment() -> fanin.env.Env:
    """The policy sees the queue and the answers under way, and sets the threshold."""
    observe: list[fanin.env.Feature] = ["queue_packets", reads]
    act, values = "scheme.dctcp.mark-threshold", ("1pkt", "100pkt")
    return fanin.env.make(scenario(), act=act, values=values, every=STEP, observe=observe, reward=reward)


def linear(weights: np.ndarray) -> Policy:
    """A weighted sum, squeezed to 1 to 100 packets."""
    return lambda seen: 1 + 99 / (1 + np.exp(-(weights[0] + weights[1] * seen[0] / 100 + weights[2] * seen[1])))


def fixed(packets: float) -> Policy:
    """A threshold that stays."""
    return lambda _: packets


def score(env: fanin.env.Env, policy: Policy, seed: int) -> float:
    """The mean reward of a run."""
    seen, _ = env.reset(options={"seed": seed})
    rewards, over = [], False
    while not over:
        seen, got, ended, cut, _ = env.step(np.array([policy(seen)]))
        rewards.append(got)
        over = ended or cut
    return float(np.mean(rewards))


def scores(env: fanin.env.Env, policy: Policy, seeds: Sequence[int]) -> np.ndarray:
    """The scores of runs with these seeds."""
    return np.array([score(env, policy, seed) for seed in seeds])


def learn(env: fanin.env.Env, seeds: Sequence[int], generations: int, tries: int) -> np.ndarray:
    """The cross-entropy method: draws weights, keeps the best quarter, and draws around them again."""
    draw = np.random.default_rng(1)
    mean, spread = np.zeros(3), np.full(3, 2.0)
    for _ in range(generations):
        drawn = mean + spread * draw.standard_normal((tries, 3))
        found = [scores(env, linear(weights), seeds).mean() for weights in drawn]
        best = drawn[np.argsort(found)[-(tries // 4) :]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.1
    return mean


def compare(generations: int = 8, tries: int = 16, train: int = 3, test: int = 20) -> dict[str, np.ndarray]:
    """The scores of the policy and of fixed thresholds on fresh seeds; all choices are made on other seeds."""
    env, seen, fresh = environment(), range(1, 1 + train), range(1001, 1001 + test)
    weights = learn(env, seen, generations, tries)
    best = max(FIXED, key=lambda packets: scores(env, fixed(packets), seen).mean())
    sys.stdout.write(f"weights {np.round(weights, 2).tolist()}, best fixed threshold {best} packets\n")
    policies = {"learned": linear(weights), "default": fixed(DEFAULT), "best fixed": fixed(best)}
    return {name: scores(env, policy, fresh) for name, policy in policies.items()}


def difference(one: np.ndarray, other: np.ndarray) -> str:
    """The mean difference of paired scores, with its 95 % interval by the bootstrap."""
    pairs = one - other
    means = np.random.default_rng(1).choice(pairs, (10_000, len(pairs))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{pairs.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


if __name__ == "__main__":
    found = compare()
    for name, each in found.items():
        sys.stdout.write(f"{name:10} {each.mean():.3f}\n")
    for name in ("default", "best fixed"):
        sys.stdout.write(f"learned minus {name}: {difference(found['learned'], found[name])}\n")

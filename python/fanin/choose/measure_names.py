"""The names that people use of what a network is measured by."""

MEASURES = {
    "query-p99": "query_p99_s",
    "query-mean": "query_mean_s",
    "p99-fct": "fct_p99_s",
    "mean-fct": "fct_mean_s",
    "goodput": "goodput_bps",
    "background": "background",
    "timeout-ratio": "timeout_ratio",
    "timeouts": "timeouts",
    "drops": "drops",
    "queue": "queue_mean_packets",
    "queue-p99": "queue_p99_packets",
    "fairness": "jain",
}
"""Name of a measure -> its column; ``background`` is the goodput of all groups of that kind together."""

"""Running experiments: one run, a sweep, a pool of threads or a cluster."""

"""Results of runs: the store, tables and data sets."""

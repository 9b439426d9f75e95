"""The sections of a scenario file that define what is done with runs: one module for each."""

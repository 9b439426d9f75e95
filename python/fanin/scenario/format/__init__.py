"""The sections of a scenario file that say what is done with runs: one module for each."""

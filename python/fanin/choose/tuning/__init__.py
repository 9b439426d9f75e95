"""Finds the best values of a scenario's parameters for one goal or several: search space, study, answer."""

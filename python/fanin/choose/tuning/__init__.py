"""The best values of a scenario's parameters for one goal or several: what may vary, the study, the answer."""

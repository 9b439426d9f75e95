"""Plots of an experiment's runs: PNG, SVG and the CSV of what is drawn.

The same runs give the same bytes: no dates, no random identifiers.
"""

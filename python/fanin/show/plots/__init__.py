"""Plots of an experiment's runs as PNG and SVG, and their data as CSV.

The same runs give the same bytes: no dates, no random identifiers.
"""

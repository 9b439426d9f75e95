"""Numbers: names and formats of a run's totals, statistics, units and formulas."""

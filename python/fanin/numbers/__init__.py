"""Numbers: what a run's totals are called and how they are shown, statistics, units and formulas."""

"""Choosing a fix: comparison, ranking, capacity and tuning."""

"""Choosing a remedy: comparison, ranking, capacity and tuning."""

"""Scenario and experiment files: their content and their validation."""

"""Searches what a paper leaves open, jointly over several experiments, for the settings that fit its sentences."""

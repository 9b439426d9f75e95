"""Output for people: plots, pages and reports."""

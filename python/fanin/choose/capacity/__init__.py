"""The largest fan-in that keeps some bounds: what a fan-in comes to, the search, and what it leaves."""

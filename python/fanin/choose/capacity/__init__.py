"""The largest fan-in that keeps some bounds: judgement of a fan-in, search, and answer."""

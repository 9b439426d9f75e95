"""What a scenario or experiment file says, and whether it is valid."""

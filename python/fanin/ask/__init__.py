"""What users ask of scenarios, in Python and by commands: each question is a function, and its answer an object."""

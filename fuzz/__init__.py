"""Fuzzing: random inputs, and properties that hold for every input. See README.md."""

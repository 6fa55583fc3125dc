"""Fuzzing: random inputs against what must hold of every input. See README.md."""

"""The jobs that run in the measured processes; see ``worker.py``."""

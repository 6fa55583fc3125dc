"""``python -m usp`` is the command ``usp``."""

from usp._own_process import (
    hide_unneeded,
    killed_by_sigterm,
    skip_last_collection,
    tune_garbage_collection,
)
from usp.cli.cli import main


def run() -> None:
    """Run the command in a process of its own."""
    hide_unneeded()
    tune_garbage_collection()
    try:
        with killed_by_sigterm():
            main()
    finally:
        skip_last_collection()


if __name__ == "__main__":
    run()

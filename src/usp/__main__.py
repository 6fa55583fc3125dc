"""``python -m usp`` is the command ``usp``."""

from usp._own_process import (
    hide_unneeded,
    keep_garbage,
    killed_by_sigterm,
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
        keep_garbage()


if __name__ == "__main__":
    run()

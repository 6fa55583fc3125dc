"""``python -m usp`` is the command ``usp``."""

from usp._own_process import (
    killed_by_sigterm,
    prepare_libraries,
    skip_last_collection,
    tune_garbage_collection,
)
from usp.cli.cli import main


def run() -> None:
    """Run the command in a process of its own."""
    prepare_libraries()
    tune_garbage_collection()
    try:
        with killed_by_sigterm():
            main()
    finally:
        skip_last_collection()


if __name__ == "__main__":
    run()

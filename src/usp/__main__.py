"""``python -m usp`` is the command ``usp``."""

from usp._own_process import prepare_own_process
from usp.cli.cli import main


def run() -> None:
    """Run the command in a process of its own."""
    prepare_own_process()
    main()


if __name__ == "__main__":
    run()

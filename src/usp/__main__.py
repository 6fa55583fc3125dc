"""``python -m usp`` is the command ``usp``."""

from usp.cli.cli import main

if __name__ == "__main__":
    main()

"""``python -m superopt``: the command line where no script is installed."""

from __future__ import annotations

from superopt.cli import main

if __name__ == "__main__":
    main()

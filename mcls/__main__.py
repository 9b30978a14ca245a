"""``python -m mcls`` is the command ``mcls``."""

from mcls.cli.app import main

if __name__ == "__main__":
    main()

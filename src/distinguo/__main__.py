"""``python -m distinguo``."""

from distinguo.cli import main

if __name__ == "__main__":
    main()

"""`python -m triathlon`."""

from triathlon.cli import main

if __name__ == "__main__":
    main()

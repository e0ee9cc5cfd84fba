"""Run the command line as `python -m rapids_trav`."""

from rapids_trav.cli import main

if __name__ == "__main__":
    main()

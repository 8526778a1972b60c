"""`python -m evalc`: the command line."""

from evalc.cli.main import main

if __name__ == "__main__":
    main()

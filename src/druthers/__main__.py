"""The entry of the command line: errors become one line and an exit code."""

import sys

from druthers.errors import DruthersError, needs
from druthers.own import own_parts

# What the exit codes say; 0 is success.
FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line and leave with its exit code: 2 for a request that cannot be met, 1 for one that failed."""
    try:
        for package in ("typer", "scipy", "matplotlib", "pyarrow"):
            needs(package, "lab", load=False)
        from druthers.cli import app

        with own_parts():
            app(prog_name="druthers")
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            print("\nstopped; what was finished is kept: the same command goes on from there", file=sys.stderr)
        raise
    except DruthersError as error:
        print(f"druthers: {error}", file=sys.stderr)
        sys.exit(MISUSED if isinstance(error, ValueError | KeyError) else FAILED)
    except OSError as error:
        if not error.strerror:
            raise
        where = f"{error.filename}: " if error.filename else ""
        print(f"druthers: files must be readable and writable, but {where}{error.strerror}", file=sys.stderr)
        sys.exit(FAILED)


if __name__ == "__main__":
    main()

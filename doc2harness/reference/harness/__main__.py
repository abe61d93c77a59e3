"""The command `harness`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .types import Interrupted, Stop

if TYPE_CHECKING:
    from .options import Options


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; the exit code."""
    from . import output
    from .options import parse

    _fill_standard_streams()
    try:
        return _dispatch(parse(sys.argv[1:] if arguments is None else arguments))
    except Stop as stop:
        output.complain(stop.message)
        return stop.code
    except Interrupted:
        return 141  # only a closed stdout gets here
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        output.complain(str(error))
        return 1


def _fill_standard_streams() -> None:
    """A closed stdin, stdout or stderr becomes /dev/null: no file opened later may take its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _dispatch(options: Options) -> int:
    if options.command == "run":
        if options.headless or not os.isatty(0):
            from . import headless

            return headless.run(options)
        from . import terminal

        return terminal.run(options)
    if options.command == "serve":
        from . import serve

        return serve.run(options)
    from . import reading

    return reading.run(options)


if __name__ == "__main__":
    sys.exit(main())

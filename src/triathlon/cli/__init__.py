"""The command line: one module per noun, one function per command.

`main` is the edge: it turns `TriathlonError` into one line on stderr and the right exit code
(0 ok, 1 failed, 2 interrupted, 3 our fault, 4 wrong use, 5 nothing to do). A bug keeps its trace.
"""

from __future__ import annotations

import errno
import io
import os
import sys

import typer

import triathlon
from triathlon.cli import compare, doctor, export, harness, oolong, recall, report, store
from triathlon.errors import TriathlonError

app = typer.Typer(
    name="triathlon",
    help="A bench for agents that work for hours: harness, recall, oolong.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing rich for it would double the start-up
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(harness.app, name="harness")
app.add_typer(recall.app, name="recall")
app.add_typer(oolong.app, name="oolong")
app.add_typer(store.app, name="store")
app.add_typer(export.app, name="export")
harness.app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("view")(report.view)
app.command("doctor")(doctor.doctor)

INTERRUPTED = 130
"""What typer makes of Ctrl-C; older versions raise Abort."""

OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EISDIR, errno.ENOTDIR})
"""A full disk, a quota, a place that may not be written to or is of another kind: no bug, wherever it is met."""


def _version(value: bool) -> None:
    if value:
        typer.echo(f"triathlon {triathlon.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """A bench for agents that work for hours: harness, recall, oolong."""


def _show(error: typer.TyperException) -> None:
    """A wrong flag as one line; without any argument the help, as it is."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return
    message = " ".join(error.format_message().split())  # str() leaves out which option it is about
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "triathlon"
    if message:
        print(f"{path}: {message.rstrip('.')}; see '{path} --help'", file=sys.stderr)


def _drop_output() -> None:
    """What standard output could not take is not tried again when Python exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line and exit with one of the six codes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale cannot write is escaped, not a trace
    try:
        status = app(standalone_mode=False, prog_name="triathlon")
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        print("triathlon: interrupted", file=sys.stderr)
        sys.exit(2)
    except typer.TyperException as error:
        _show(error)
        sys.exit(4)
    except TriathlonError as error:
        print(f"triathlon: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            _drop_output()
            where = f"{error.filename}: " if error.filename else ""
            print(f"triathlon: {where}{error.strerror}; make room or choose another place", file=sys.stderr)
            sys.exit(4)
        import traceback

        traceback.print_exc()
        print("triathlon: this is a bug in triathlon; please report it with the trace above", file=sys.stderr)
        sys.exit(3)
    if status == INTERRUPTED:
        print("triathlon: interrupted", file=sys.stderr)
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)

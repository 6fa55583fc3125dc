"""The entry point: parses the arguments, runs one command, returns its exit code.

Wrong arguments, Ctrl-C, a closed pipe and a full disk are handled here and only here; none of them
prints a traceback. Modules are imported inside of ``main``, so that Ctrl-C is caught while they are
being imported.
"""

from __future__ import annotations

import sys

from usp._version import __version__

TYPE_CHECKING = False  # as in typing, which is slow to import
if TYPE_CHECKING:
    import argparse

    from usp.cli._exit import Exit

__all__ = ["__version__", "main", "parse_args"]

_INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 plus the number of SIGINT."""


def parse_args(arg_list: list[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """Return the parsed arguments, completed by the config file, and the parser.

    ``command`` is None if no command was given.

    :raises UsageError: if the config file is wrong.
    """
    from usp.cli._parser import parse

    args, parser = parse(sys.argv[1:] if arg_list is None else arg_list)
    if args.command:
        from usp.cli._config import complete

        complete(args, args.command)
    return args, parser


def main(arg_list: list[str] | None = None) -> None:
    """Run the command; return if it succeeded, else exit with a nonzero code."""
    try:
        code = int(_handle_errors(arg_list))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if code:
        sys.exit(code)


def _handle_errors(arg_list: list[str] | None) -> Exit:
    from usp._display import without_typed_credentials
    from usp.cli import _output
    from usp.cli._exit import Exit
    from usp.exceptions import SitemapException, StorageError, ThreadStartError

    def tell(error: object) -> None:
        typed = sys.argv[1:] if arg_list is None else arg_list
        _output.tell(without_typed_credentials(f"error: {error}", typed))

    try:
        _output.prepare()
        return _run_and_flush(arg_list)
    except (StorageError, ThreadStartError) as error:
        tell(error)
        return Exit.FAILED
    except SitemapException as error:
        tell(_in_words_of_the_command(error))
        return Exit.USAGE
    except BrokenPipeError:
        return Exit.DONE  # the reader, such as head, has enough
    except OSError as error:
        # An error with a file says its name; only standard output has none.
        is_of_stdout = error.errno is not None and error.filename is None
        reason = f"cannot write standard output: {error.strerror}" if is_of_stdout else error
        tell(reason)
        return Exit.FAILED
    finally:
        _output.flush_or_discard()


def _in_words_of_the_command(error: Exception) -> str:
    """Return a message of the library; the keywords that it advises are options here."""
    return str(error).replace("replace=True", "--replace").replace("append=True", "--append")


def _run_and_flush(arg_list: list[str] | None) -> Exit:
    """Run the command and flush stdout: an error of the flush is an error of the command."""
    try:
        code = _run(arg_list)
    except SystemExit:  # argparse printed the help or the version
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _run(arg_list: list[str] | None) -> Exit:
    from usp.cli import _output
    from usp.cli._exit import Exit
    from usp.exceptions import UsageError

    args, parser = parse_args(arg_list)
    if args.command is None:
        parser.print_help()
        return Exit.DONE
    from usp.cli._files import check_files  # neither the help nor the version needs it

    if getattr(args, "output", None) in {None, "-"}:
        _output.check_stdout()

    try:
        check_files(args)
        code: Exit = args.command.run(args)
    except UsageError as error:
        from usp.cli._config import located

        if (of_config := located(error, args)) is not error:
            raise of_config from None
        raise
    return code

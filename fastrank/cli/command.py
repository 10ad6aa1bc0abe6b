"""The base of the commands: how each is declared, runs, reports errors, writes and ends."""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from functools import cache

from fastrank.cli.output import check_distinct, complain, guarded, report_unwritable, write
from fastrank.common.arguments import TREC_EVAL_VERSIONS
from fastrank.common.faces import on_command_line
from fastrank.core.data.texts import encoded
from fastrank.core.formats.files import files
from fastrank.core.formats.formats import FORMATS
from fastrank.core.formats.tables.roles import asked_columns, asking_columns
from fastrank.errors import FastrankError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.cli.parser import Parser


# The placeholders of values that are files.
FILES = ("FILE", "QRELS", "RUN", "IN", "OUT", "BASELINE", "CSV", "OLD", "NEW", "SPANS", "CHUNKS")


class UsageError(Exception):
    """A command line that makes no sense; the exit status is 2."""


@contextmanager
def misused() -> Iterator[None]:
    """Raise UsageError for any error of fastrank."""
    try:
        yield
    except FastrankError as error:
        raise UsageError(str(error)) from None


class Command:
    """A command.

    name: as users type it. usage: what follows `[options]`, in one or several forms.
    declare: adds the arguments to a parser.
    run: does the work, and returns the exit status (None: 0), the text to write to standard output
        or to the file of -o, or a result.
    steps: in place of these two, the subcommands by what they do.
    formats: the choices of --format, the first of which is the default. writers: the functions that
        make the text of formats that not all results have. suffixes: the formats of names of files;
        xml: what writes XML instead, for the name of such a file.
    default: chooses among the formats where neither --format nor a name of a file does, in place of
        the first.
    outputs: the arguments that name files to write. Before the work starts it is checked that they
        can be written, and that none is the file of another or of an input.
    beside: the suffixes of second files, by arguments. in_place: whether an input may be replaced.
    kinds: of those in one form, by ENDINGS.
    reads: whether the command reads tables, whose columns --columns names.
    plot: whether the result is drawn into the file of --plot.
    failure: the exit status for wrong input; invalid: for an invalid option.
    """

    def __init__(
        self,
        name: str,
        declare: Callable[[Parser], None] | None = None,
        run: Callable[[argparse.Namespace], object] | None = None,
        *,
        steps: Mapping[str, Command] | None = None,
        usage: tuple[str, ...] = (),
        epilog: str = "",
        writers: Mapping[str, Callable[[Any], str]] | None = None,
        formats: Collection[str] = (),
        suffixes: Mapping[str, str] | None = None,
        xml: str = "",
        default: Callable[[argparse.Namespace], str] | None = None,
        outputs: tuple[str, ...] = ("output",),
        beside: Mapping[str, str] | None = None,
        in_place: bool = False,
        kinds: Mapping[str, str] | None = None,
        plot: bool = False,
        reads: bool = True,
        failure: int = 1,
        invalid: int = 2,
    ) -> None:
        self.name, self.usage, self.epilog = name, usage, epilog
        self._declare, self._run, self._steps = declare, run, steps or {}
        self._outputs, self._plot = (*outputs, "plot") if plot else outputs, plot
        self._kinds = kinds or {}
        self._writers, self._suffixes, self._xml = writers or {}, suffixes, xml
        self._formats, self._default = tuple(formats), default
        self._failure, self._invalid, self._reads = failure, invalid, reads
        self._beside, self._in_place = beside or {}, in_place
        self._files: dict[str, str] = {}

    def declare(self, parser: Parser) -> None:
        """Declare on a parser what the command takes; what is parsed then names the command."""
        if self.usage:
            parser.usage = "\n".join(f"{self.name} [options] {form}" for form in self.usage)
        parser.epilog = self.epilog
        parser.formats = self._formats
        parser.default_format = "see below" if self._default else ""
        if self._declare is not None:
            self._declare(parser)
            self._files = {
                action.dest: (action.option_strings or [action.metavar])[0]
                for action in parser.arguments
                if action.metavar in FILES
            }
            if self._reads:
                parser.add_columns()
            parser.set_defaults(command=self)
            return
        steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
        for does, command in self._steps.items():
            step = command.name.split()[-1]
            command.declare(steps.add_parser(step, help=does, description=sentence(does)))

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Run the command; returns the exit status."""
        ended: list[int] = []

        def command() -> int:
            ended.append(self._status(arguments))
            return ended[0]

        status = guarded(self.name, command)
        # If something else stopped the command, the status is not its own.
        return self._failure if status == 1 and ended != [1] else status

    def _status(self, arguments: argparse.Namespace) -> int:
        if getattr(arguments, "output", None) == "-":
            arguments.output = None
        try:
            _check_version(arguments)
            if self._plot and arguments.plot is not None:
                from fastrank.core.results.images import check_format

                check_format(arguments.plot)
            for name, kind in self._kinds.items():
                path = getattr(arguments, name)
                if isinstance(path, str):
                    from fastrank.core.formats.endings import check_suffix

                    check_suffix(flag_of(name), path, kind)
            if not self._can_be_written(arguments):
                return self._failure
            if self._formats and arguments.format is None:
                from fastrank.cli.output_formats import format_of_output
                from fastrank.core.formats.endings import SUFFIXES

                formats, suffixes = self._formats, self._suffixes or SUFFIXES
                default = self._default(arguments) if self._default else formats[0]
                arguments.format = format_of_output(
                    arguments.output, formats, default, suffixes, self._xml
                )
            form = FORMATS.get(getattr(arguments, "format", None) or "")
            if self._formats and form and form.is_binary and arguments.output is None:
                raise UsageError(f"{form.name} cannot be written to standard output; use -o FILE")
            images: list[tuple[str, list[bytes]]] = []
            result = self._result(arguments, images)
            if result is None or isinstance(result, int):
                return result or 0
            text = result if isinstance(result, str) else self.rendered(result, arguments)
            output = getattr(arguments, "output", None)
            files.write_all(images + ([] if output is None else [(output, [encoded(text)])]))
            if output is None:
                write([encoded(text)])
        except UsageError as error:
            self.warn(str(error), "error")
            return 2
        except FastrankError as error:
            self.warn(str(error), "error")
            wrong_option = isinstance(error, (OptionError, MeasureError))
            return self._invalid if wrong_option else self._failure
        return 0

    def rendered(self, result: Any, arguments: argparse.Namespace) -> str:
        """A result in the format that the command line asks for."""
        from fastrank.cli.output_formats import page_of
        from fastrank.core.results.result import rendered

        if arguments.format in self._writers:
            return self._writers[arguments.format](result)
        return rendered(result, arguments.format, **page_of(arguments))

    def _result(
        self, arguments: argparse.Namespace, images: list[tuple[str, list[bytes]]]
    ) -> object:
        """The result of `run`, and its plot; each Python warning becomes a message, once."""
        run: Any = self._run
        asked = asking_columns(dict(getattr(arguments, "columns", None) or ()))
        with warnings.catch_warnings(), on_command_line(), asked as columns:
            # Python's filter "once" does not hold across threads.
            warnings.simplefilter("always", UserWarning)
            tell = cache(self.warn)
            warnings.showwarning = lambda message, *_: tell(str(message))
            result = run(arguments)
            columns.check()
            if self._plot and arguments.plot is not None:
                from fastrank.core.results.images import check_format

                image = io.BytesIO()
                result.plot(path=image, format=check_format(arguments.plot))
                images.append((arguments.plot, [image.getvalue()]))
        return result

    def _can_be_written(self, arguments: argparse.Namespace) -> bool:
        for output in self._outputs:
            path = getattr(arguments, output, None)
            try:
                if path is not None:
                    files.check_target(path)
            except OSError as error:
                report_unwritable(self.name, path, error)
                return False
        outputs = [name for name in self._files if name in ("output", *self._outputs)]
        inputs = [] if self._in_place else [name for name in self._files if name not in outputs]
        with misused():
            check_distinct(self._paths(arguments, outputs), self._paths(arguments, inputs))
        return True

    def _paths(
        self, arguments: argparse.Namespace, names: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        """The files of arguments, with the flags; standard output if there is no -o."""
        for name in names:
            paths = getattr(arguments, name, None) or ("-" if name == "output" else ())
            for path in [paths] if isinstance(paths, str) else paths:
                yield self._files[name], path
                if name in self._beside:
                    yield self._files[name], path + self._beside[name]

    def warn(self, message: str, severity: str = "warning") -> None:
        """Write a message to standard error."""
        complain(f"{self.name}: {message}", severity)


def sentence(words: str) -> str:
    """What a command does, as a sentence."""
    return f"{words[0].upper()}{words[1:]}{'' if words.endswith('?') else '.'}"


def flag_of(name: str) -> str:
    """The flag of a parameter."""
    return f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}"


def _check_version(arguments: argparse.Namespace) -> None:
    """Raise UsageError for another version of trec_eval; argparse does not check defaults."""
    version = getattr(arguments, "trec_eval_version", None)
    if version not in (None, *TREC_EVAL_VERSIONS):
        expected = " or ".join(TREC_EVAL_VERSIONS)
        raise UsageError(f"FASTRANK_TREC_EVAL_VERSION={version}: expected {expected}")


def write_lines(path: str | None, lines: Iterable[bytes]) -> None:
    """Write to standard output (None), or to a file, which is compressed if its name says so.

    With `--columns`, all lines are made first, for the error about a name that no table has.
    """
    if asked_columns().unused:
        lines = list(lines)
        asked_columns().check()
    if path is None:
        write(lines)
    else:
        files.write_compressed(path, lines)

"""The parser of a command, which suggests flags for unknown ones."""

from __future__ import annotations

import argparse

from fastrank.keywords import closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose error about an unknown flag names the closest one."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; exits with status 2 for unknown arguments."""
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags = [word.partition("=")[0] for word in unknown if word.startswith("--")]
            parser = self._used(given)
            known = [flag[2:] for flag in parser._option_string_actions if flag.startswith("--")]
            close = [found for flag in flags[:1] if (found := closest(flag[2:], known))]
            hint = f"; did you mean --{close[0]}?" if close else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return given

    def _used(self, given: argparse.Namespace) -> argparse.ArgumentParser:
        """The parser of the subcommand that was given, or this one."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                chosen: argparse.ArgumentParser = action.choices[getattr(given, action.dest)]
                return chosen
        return self

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
            known = [flag[2:] for flag in self._option_string_actions if flag.startswith("--")]
            close = [found for flag in flags[:1] if (found := closest(flag[2:], known))]
            hint = f"; did you mean --{close[0]}?" if close else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return given

"""Command lines as GNU getopt_long reads them, messages included.

The standard library's getopt words its errors differently from glibc and does not report the
options before an error; importing it takes longer than evaluating a small file.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class UsageError(Exception):
    """A command line that cannot be understood; the message is getopt's."""


class Parser:
    """Options and operands of one command line.

    short: the option letters, each followed by `:` if it takes a value. long: names in the order
    of declaration, each with its letter and whether it takes a value. Iterating yields
    (letter, value) from left to right; `operands` is complete when the iteration ends.
    """

    def __init__(
        self, program: str, short: str, long: dict[str, tuple[str, bool]], words: list[str]
    ) -> None:
        self.operands: list[str] = []
        self._program, self._short, self._long, self._words = program, short, long, words

    def __iter__(self) -> Iterator[tuple[str, str]]:
        words = iter(self._words)
        for word in words:
            if word == "--":
                break
            if word.startswith("--"):
                yield self._long_option(word, words)
            elif word.startswith("-") and word != "-":
                yield from self._short_options(word, words)
            else:
                self.operands.append(word)
                if "POSIXLY_CORRECT" in os.environ:
                    break
        self.operands += words

    def _short_options(self, word: str, words: Iterator[str]) -> Iterator[tuple[str, str]]:
        for end, letter in enumerate(word[1:], 2):
            index = self._short.find(letter) if letter != ":" else -1
            if index < 0:
                raise UsageError(f"{self._program}: invalid option -- '{letter}'")
            if self._short[index + 1 : index + 2] != ":":
                yield letter, ""
                continue
            value = word[end:] or next(words, None)
            if value is None:
                raise UsageError(f"{self._program}: option requires an argument -- '{letter}'")
            yield letter, value
            return

    def _long_option(self, word: str, words: Iterator[str]) -> tuple[str, str]:
        written, equals, value = word[2:].partition("=")
        names = [name for name in self._long if name.startswith(written)]
        if written in self._long:
            names = [written]
        if not names:
            raise UsageError(f"{self._program}: unrecognized option '{word}'")
        if len(names) > 1:
            choices = " ".join(f"'--{name}'" for name in names)
            raise UsageError(
                f"{self._program}: option '{word}' is ambiguous; possibilities: {choices}"
            )
        letter, takes_value = self._long[names[0]]
        if takes_value and not equals:
            following = next(words, None)
            if following is None:
                raise UsageError(f"{self._program}: option '--{names[0]}' requires an argument")
            return letter, following
        if equals and not takes_value:
            raise UsageError(f"{self._program}: option '--{names[0]}' doesn't allow an argument")
        return letter, value

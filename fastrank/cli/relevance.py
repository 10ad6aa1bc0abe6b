"""The option that says which grades are relevant, the same for every command."""

from __future__ import annotations

from fastrank.judging.options import relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_relevance_level(parser: argparse.ArgumentParser) -> None:
    """Declare -l."""
    parser.add_argument(
        "-l", "--relevance-level", type=number, default=1, metavar="N",
        help="the lowest grade that is relevant (1)",
    )  # fmt: skip


def number(text: str) -> float:
    """A grade, an int if it is whole; argparse names the function in its messages."""
    return relevance(float(text) if set(text) & set(".eE") else int(text))

"""Generate the man pages from the help of the commands.

    python docs/scripts/man_pages.py

writes the files in docs/man.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from fastrank.cli.help import help_text
from fastrank.cli.main import COMMANDS, parser_of, root_parser

FOLDER = Path(__file__).parents[1] / "man"


def page(name: str, summary: str, *texts: str) -> str:
    """A man page with texts whose lines stay as they are."""
    body = "\n\n".join(text.rstrip() for text in texts)
    body = re.sub(r"(?m)^(?=[.'])", r"\\&", body.replace("\\", r"\e")).replace("-", r"\-")
    others = "" if name == "fastrank" else ".SH SEE ALSO\n.BR fastrank (1)\n"
    return (
        f'.TH {name.upper()} 1 "" "fastrank"\n'
        f".SH NAME\n{name} \\- {summary}\n"
        f".SH DESCRIPTION\n.in 0\n.nf\n{body}\n.fi\n{others}"
    )


def main() -> None:
    """Write the files."""
    # A man page of 80 columns; no colors from Python 3.14 on.
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1"}
    os.environ.pop("FORCE_COLOR", None)
    FOLDER.mkdir(exist_ok=True)
    pages = {"fastrank": page("fastrank", "evaluate rankings", root_parser().format_help())}
    for command, summary in COMMANDS.items():
        name = f"fastrank-{command}"
        if command == "trec_eval":
            name, texts = command, [help_text([], "qrels", "trec_results")]
        else:
            parser = parser_of(command)
            steps = parser.steps.choices if parser.steps else {}
            texts = [one.format_help() for one in (parser, *steps.values())]
        pages[name] = page(name, summary, *texts)
    for name, text in pages.items():
        (FOLDER / f"{name}.1").write_text(text)


main()

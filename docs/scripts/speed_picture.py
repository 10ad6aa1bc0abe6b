"""Draws the picture at the top of the README from the speed tables: docs/images/speed.svg.

python docs/scripts/speed_picture.py > docs/images/speed.svg
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "speed.md"
CASE = "typical"
# Columns of the first table, and what the picture calls them.
PROGRAMS = {
    "trec_eval": "trec_eval",
    "pytrec_eval": "pytrec_eval",
    "fastrank, 2 threads (starts Python)": "fastrank",
}
# As wide and as high as docs/images/inspector.png, beside which it stands, in units of 2.5 pixels.
WIDTH, HEIGHT, LEFT, TOP, BAR, STEP = 480, 288, 100, 74, 40, 66
TITLE = "Seconds to evaluate a run of 283 MB"
# Legible on white and on black.
COLORS = {"fastrank": "#e8590c", "": "#868e96"}
FONT = "system-ui, sans-serif"


def seconds(page: str) -> dict[str, float]:
    """What each program of the picture takes for the case, as the first table says."""
    titles, *rows = (
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in re.findall(r"^\|.*$", page[page.index("| files, `-m official`") :], re.M)
    )
    row = dict(zip(titles, next(row for row in rows if row[0] == CASE), strict=True))
    return {
        name: float(row[title].split(" ")[0].replace(",", "")) / 1000
        for title, name in PROGRAMS.items()
    }


def picture(times: dict[str, float]) -> str:
    """Horizontal bars, one for each program."""
    longest = max(times.values())
    bars = [f'<text x="10" y="36" font-size="18">{TITLE}</text>']
    for i, (name, time) in enumerate(times.items()):
        top, width = TOP + i * STEP, time / longest * (WIDTH - LEFT - 60)
        color = COLORS.get(name, COLORS[""])
        middle = top + BAR / 2 + 5
        bars += [
            f'<text x="{LEFT - 10}" y="{middle:g}" text-anchor="end">{name}</text>',
            f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" fill="{color}"/>',
            f'<text x="{LEFT + width + 8:.1f}" y="{middle:g}">{time:.1f} s</text>',
        ]
    told = ", ".join(f"{name} {time:.1f}" for name, time in times.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' width="{WIDTH * 2.5:g}" height="{HEIGHT * 2.5:g}" role="img"'
            f' font-family="{FONT}" font-size="16" fill="#868e96">',
            f"<title>{TITLE}: {told}</title>",
            *bars,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(picture(seconds(PAGE.read_text("utf-8"))))

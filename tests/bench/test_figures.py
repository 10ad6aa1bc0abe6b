"""`python -m bench figures`."""

from __future__ import annotations

import re

from tests.helpers.bench_commands import run


def test_figures_of_the_code_are_counted() -> None:
    done = run("-m", "bench", "figures")

    assert (done.returncode, done.stderr) == (0, "")
    core, whole, modules, file, dicts = (
        int(line.split()[0].replace(",", "")) for line in done.stdout.splitlines()
    )
    assert 1000 < core < whole
    assert 0 < modules < 100
    assert 0 < dicts < file
    files = re.findall(r"in (\d+) files", done.stdout)
    assert 0 < int(files[0]) < int(files[1])

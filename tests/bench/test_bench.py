"""The benchmarks of kernels and functions compute the right values; figures of the code."""

from __future__ import annotations

import re

from tests.helpers.bench_commands import run


def test_the_timed_kernels_and_functions_compute_the_right_values() -> None:
    done = run("-m", "pytest", "bench", "--benchmark-disable", "-q", "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout + done.stderr
    # 4 kernels; reading, official and all_trec for each of 13 cases; 74 for arrays and labels; 152
    # for dicts; 4 for embeddings; 5 for executors; 2 for web servers. Where they are installed,
    # ranx has 16 more, Dask 2, BEIR and sentence-transformers one each.
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert 280 <= int(passed[1]) <= 320


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

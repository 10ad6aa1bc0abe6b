"""Assertions for tests of retrieval quality, as in pytest, and what runs the kernels."""

from __future__ import annotations

from fastrank.gating.gate import gate
from fastrank.native import engine as engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.files import Source
    from fastrank.formats.inputs import QrelsLike, RunLike
    from fastrank.gating.verdict import Verdict
    from fastrank.measures.selection import Measures


def assert_no_regression(
    baseline: Source,
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures | None = None,
    **options: Any,
) -> Verdict:
    """Raise AssertionError, with the table of the checks, unless a run passes a gate.

    The arguments are those of `fastrank.gate`. Returns the verdict.

    >>> import io
    >>> file = io.BytesIO()
    >>> saved = fr.save_baseline(file, "data/digits.qrels", "data/pixels.run", "map")
    >>> saved = io.BytesIO(file.getvalue())
    >>> fr.testing.assert_no_regression(saved, "data/digits.qrels", "data/pixels.run")
    <Verdict: pass, 1 check>
    """
    # pytest then shows the line of the test instead of this one.
    __tracebackhide__ = True
    verdict = gate(baseline, qrels, run, measures, **options)
    if not verdict.passed:
        raise AssertionError(f"\n{verdict}")
    return verdict

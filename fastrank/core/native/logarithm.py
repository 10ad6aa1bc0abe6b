"""The logarithm to base 2 of the C library, with which trec_eval computes."""

from __future__ import annotations

import sys
from math import log2

__all__ = ["log2"]

if sys.implementation.name == "pypy" and sys.platform != "win32":
    # PyPy's own, which it computes from natural logarithms, differs in the last digit of some.
    from ctypes import CDLL, c_double

    log2 = CDLL(None).log2
    log2.argtypes, log2.restype = [c_double], c_double

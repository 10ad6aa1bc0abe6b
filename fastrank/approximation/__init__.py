"""How good approximate indexes are: what they find, how fast, in how much memory."""

from __future__ import annotations

from fastrank.approximation.comparison import IndexComparison as IndexComparison
from fastrank.approximation.comparison import IndexPoint as IndexPoint
from fastrank.approximation.measuring import compare_indexes as compare_indexes

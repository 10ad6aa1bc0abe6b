"""A strict reading of judgments and runs: everything that is wrong, with its line."""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.checking.checker import check as check

__getattr__, __dir__ = public_names(__name__)

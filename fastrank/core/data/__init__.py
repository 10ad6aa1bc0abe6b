"""Judgments and runs, as flat columns with one row range per query."""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.data.qrels import Preferences as Preferences
    from fastrank.core.data.qrels import Qrels as Qrels
    from fastrank.core.data.run import Run as Run

__getattr__, __dir__ = public_names(__name__)

"""Match judgments with a run: the ranks and grades from which measures are computed."""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.matching.array_qrels import ArrayQrels as ArrayQrels
    from fastrank.core.matching.array_qrels import index_qrels as index_qrels

__getattr__, __dir__ = public_names(__name__)

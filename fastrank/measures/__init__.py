"""The available measures: their records, notation and options."""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.measures.custom import Ranking as Ranking
    from fastrank.measures.custom import measure as measure
    from fastrank.measures.families import MEASURES as MEASURES
    from fastrank.measures.notation import MeasureSpec as MeasureSpec
    from fastrank.measures.notation import parse_measure as parse_measure
    from fastrank.measures.trec import Measure as Measure

__getattr__, __dir__ = public_names(__name__)

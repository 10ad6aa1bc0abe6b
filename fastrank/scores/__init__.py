"""Results of evaluations: values, means, tables, frames and groups of queries."""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores.differences import ScoreDifferences as ScoreDifferences
    from fastrank.scores.differences import ZScores as ZScores
    from fastrank.scores.differences import read_zscores as read_zscores
    from fastrank.scores.differences import write_zscores as write_zscores
    from fastrank.scores.groups import mean_over_datasets as mean_over_datasets
    from fastrank.scores.scores import Scores as Scores
    from fastrank.scores.tables import Table as Table
    from fastrank.scores.tables import table as table

__getattr__, __dir__ = public_names(__name__)

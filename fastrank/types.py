"""The types of what functions return, for annotations and for reading their documentation.

Nobody needs to construct them: `fr.compare(...)` returns a `fastrank.types.Comparison`, and so on.
"""

from __future__ import annotations

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.agreement import Agreement as Agreement
    from fastrank.analysis.comparing.comparison import Comparison as Comparison
    from fastrank.analysis.comparing.overlap import RankBiasedOverlap as RankBiasedOverlap
    from fastrank.analysis.comparing.pairs import Pair as Pair
    from fastrank.analysis.explaining.explanation import Explanation as Explanation
    from fastrank.analysis.explaining.reference import MeasureDifference as MeasureDifference
    from fastrank.analysis.explaining.reference import OptionsExplanation as OptionsExplanation
    from fastrank.analysis.fusion.tuning import FusionTuning as FusionTuning
    from fastrank.analysis.gating.verdict import Verdict as Verdict
    from fastrank.analysis.inspecting.inspect import Inspection as Inspection
    from fastrank.analysis.judges.agreement import JudgeAgreement as JudgeAgreement
    from fastrank.analysis.judges.estimate import EstimatedPair as EstimatedPair
    from fastrank.analysis.judges.estimate import JudgeEstimate as JudgeEstimate
    from fastrank.analysis.judges.plans import JudgmentPlan as JudgmentPlan
    from fastrank.analysis.judges.plans import Stratum as Stratum
    from fastrank.core.evaluation.ties import TieRange as TieRange
    from fastrank.core.evaluation.ties import TieReport as TieReport
    from fastrank.core.formats.qrels import Preferences as Preferences
    from fastrank.core.matching.array_qrels import ArrayQrels as ArrayQrels
    from fastrank.core.measures.custom import Ranking as Ranking
    from fastrank.core.measures.notation import MeasureSpec as MeasureSpec
    from fastrank.core.measures.trec import Measure as Measure
    from fastrank.core.scores.differences import ScoreDifferences as ScoreDifferences
    from fastrank.core.scores.differences import ZScores as ZScores
    from fastrank.vectors.embeddings.index_comparison import IndexComparison as IndexComparison
    from fastrank.vectors.embeddings.index_comparison import IndexPoint as IndexPoint
    from fastrank.vectors.embeddings.text_vectors import Embeddings as Embeddings
    from fastrank.vectors.embeddings.training_data import HardNegatives as HardNegatives
    from fastrank.vectors.embeddings.training_data import Instance as Instance

__getattr__, __dir__ = public_names(__name__)

"""The types of what functions return, for annotations and for reading their documentation.

Nobody needs to construct them: `fr.compare(...)` returns a `fastrank.types.Comparison`, and so on.
"""

from __future__ import annotations

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.agreement import Agreement as Agreement
    from fastrank.comparing.comparison import Comparison as Comparison
    from fastrank.comparing.overlap import RankBiasedOverlap as RankBiasedOverlap
    from fastrank.comparing.pairs import Pair as Pair
    from fastrank.data.qrels import Preferences as Preferences
    from fastrank.embeddings.index_comparison import IndexComparison as IndexComparison
    from fastrank.embeddings.index_comparison import IndexPoint as IndexPoint
    from fastrank.embeddings.text_vectors import Embeddings as Embeddings
    from fastrank.embeddings.training_data import HardNegatives as HardNegatives
    from fastrank.embeddings.training_data import Instance as Instance
    from fastrank.evaluation.ties import TieRange as TieRange
    from fastrank.evaluation.ties import TieReport as TieReport
    from fastrank.explaining.explanation import Explanation as Explanation
    from fastrank.explaining.reference import MeasureDifference as MeasureDifference
    from fastrank.explaining.reference import OptionsExplanation as OptionsExplanation
    from fastrank.fusion.tuning import FusionTuning as FusionTuning
    from fastrank.gating.verdict import Verdict as Verdict
    from fastrank.inspecting.inspection import Inspection as Inspection
    from fastrank.judges.agreement import JudgeAgreement as JudgeAgreement
    from fastrank.judges.estimate import EstimatedPair as EstimatedPair
    from fastrank.judges.estimate import JudgeEstimate as JudgeEstimate
    from fastrank.judges.plans import JudgmentPlan as JudgmentPlan
    from fastrank.judges.plans import Stratum as Stratum
    from fastrank.judging.array_qrels import ArrayQrels as ArrayQrels
    from fastrank.measures.custom import Ranking as Ranking
    from fastrank.measures.notation import MeasureSpec as MeasureSpec
    from fastrank.measures.trec import Measure as Measure
    from fastrank.scores.differences import ScoreDifferences as ScoreDifferences
    from fastrank.scores.differences import ZScores as ZScores

__getattr__, __dir__ = public_names(__name__)

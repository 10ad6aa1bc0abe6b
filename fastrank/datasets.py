"""Data sets of texts: a corpus, queries and judgments, from files, folders and objects."""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.vectors.datasets.answers import answer_qrels as answer_qrels
    from fastrank.vectors.datasets.answers import has_answer as has_answer
    from fastrank.vectors.datasets.question_answering import hotpot_spans as hotpot_spans
    from fastrank.vectors.datasets.question_answering import read_insurance_qa as read_insurance_qa
    from fastrank.vectors.datasets.question_answering import squad_spans as squad_spans

__getattr__, __dir__ = public_names(__name__)

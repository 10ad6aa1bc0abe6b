"""Judgments that are places in texts, and the chunks of the texts that a retriever finds.

`fastrank.span_qrels` makes judgments of chunks from them, `fastrank.evaluate_spans` computes
measures of the text that was retrieved, and `fastrank.by_level` ranks documents instead of chunks.
"""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.spans.readers import read_chunks as read_chunks
    from fastrank.analysis.spans.readers import read_spans as read_spans

__getattr__, __dir__ = public_names(__name__)

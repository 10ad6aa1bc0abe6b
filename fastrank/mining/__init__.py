"""Mine training data from a run: relevant documents and hard negatives of each query."""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.mining.instances import HardNegatives as HardNegatives
    from fastrank.mining.instances import Instance as Instance
    from fastrank.mining.mine import hard_negatives as hard_negatives

__getattr__, __dir__ = public_names(__name__)

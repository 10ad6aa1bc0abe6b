"""Call a function for many items with an executor: threads, processes, or a cluster.

The package does not know what is computed. `outcomes` sends chunks of items to any executor and
returns the results in order; what all items share is sent once to each worker process.
"""

from fastrank.executing.sending import Outcome, in_order, outcomes

__all__ = ["Outcome", "in_order", "outcomes"]

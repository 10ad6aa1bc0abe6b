"""Which judged queries a run answers, and which of its queries nobody judged."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.texts import remaining

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.texts import Texts


class Coverage(Frozen):
    """The queries of judgments and run, compared.

    complete: the summary is over all judged queries (-c), not only over those with results.
    judged: the ids of the judged queries. found: the places in `judged` of those with results.
    unknown: the ids of the run's queries without judgments, None where nobody has kept them.
    positive: for each judged query how many of its grades are above zero, None where no summary
    needs it.
    """

    __slots__ = ("complete", "found", "judged", "positive", "unknown")

    complete: bool
    judged: Texts | list[bytes]
    found: Any
    unknown: list[bytes] | None
    positive: Any

    def missing(self) -> list[bytes]:
        """The ids of the judged queries without results, in byte order.

        Looked up when asked for: judgments may have many more queries than a run.
        """
        return sorted(remaining(self.judged, self.found))

    def __reduce__(self) -> Any:
        # A pickle holds the ids, and not the file of judgments that they are a part of.
        fields = {name: getattr(self, name) for name in self.field_names()}
        fields["found"], fields["judged"] = list(self.found), list(self.judged)
        if self.positive is not None:
            fields["positive"] = list(self.positive)
        return _restored, (fields,)


def _restored(fields: dict[str, Any]) -> Coverage:
    return Coverage(**fields)

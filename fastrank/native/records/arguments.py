"""The record of the kernel that packs the arguments of other kernels."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Int64Array


class ExpectedArguments(Record):
    """What a kernel takes: its arguments, and behind each record its fields.

    owners: where the record is in this list, -1 for an argument; places: which of its fields it is.
    kinds: of native/codes.py, or an array's bytes in an item; details: the address of a record's
    class, the letter of an array's format.
    """

    __slots__ = ()
    owners: Int64Array
    places: Int64Array
    kinds: Int64Array
    details: Int64Array

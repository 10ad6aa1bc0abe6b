"""Arguments of kernels packed by a kernel: 0.05 us for an array, where Python takes 1 us."""

from __future__ import annotations

from _ctypes import addressof, byref

from fastrank.native import codes
from fastrank.native.buffers import NO_EXCEPTION, SIZES, Int64, address, filled
from fastrank.native.objects import python_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.native.record import Shape
    from fastrank.native.records.objects import PythonApi


class Packer:
    """Packs the arguments of one kernel, given the entry point of `pack_arguments`."""

    def __init__(self, entry: Any, shapes: list[Shape], api: PythonApi) -> None:
        expected: list[list[int]] = []
        for place, shape in enumerate(shapes):
            _describe(shape, -1, place, expected)
        self._count = len(shapes)
        # The kernel gets their addresses only.
        self._memory = [*api, *(filled("q", [*column]) for column in zip(*expected, strict=True))]
        parts = [part for own in self._memory for part in (address(own), len(own))]
        arrays = sum(kind > 0 for _, _, kind, _ in expected)
        numbers = sum(kind == codes.INTEGER for _, _, kind, _ in expected)
        # The kernel's own memory lies behind the arguments.
        room = 2 * arrays + numbers + len(expected)
        self._packed_type = Int64 * room
        # All but the two addresses that change.
        self._arguments = (Int64 * (len(parts) + 3))(*parts[:2], 0, *parts[2:], 0, room)
        self._entry = entry

    def pack(self, given: tuple[Any, ...]) -> Any | None:
        """Arguments as entry points take them; None if they are not as declared."""
        packed, wrong = self._packed_type(), Int64()
        arguments = type(self._arguments).from_buffer_copy(self._arguments)
        arguments[2], arguments[-2] = id(given), addressof(packed)
        try:
            self._entry(byref(wrong), NO_EXCEPTION, arguments)
        except (TypeError, ValueError, BufferError, IndexError):
            return None
        return packed if wrong.value < 0 and len(given) == self._count else None


def make_packer(entry: Any, shapes: list[Shape]) -> Packer | None:
    """A packer for arguments of these shapes; None if Python has to pack them."""
    api = python_api()
    # The kernel does not read floats: one kernel takes any.
    if api is None or any("float64" in shape.codes for shape in shapes):
        return None
    return Packer(entry, shapes, api)


def _describe(shape: Shape, owner: int, place: int, expected: list[list[int]]) -> None:
    """Append what `ExpectedArguments` says of an argument, and of all that it holds."""
    own = len(expected)
    if shape.record is not None:
        expected.append([owner, place, codes.RECORD, id(shape.record)])
    elif (code := shape.codes[0]) in SIZES:
        expected.append([owner, place, SIZES[code], ord(code)])
    else:
        expected.append([owner, place, codes.INTEGER, 0])
    for i, field in enumerate(shape.fields):
        _describe(field, own, i, expected)

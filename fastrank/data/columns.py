"""The nouns: judgments and runs as flat columns, one row range per query.

They are frozen, and what they hold was checked when they were made. Texts stay bytes in the
buffer they were read in; numbers are typed memory that kernels read and numpy views.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    import numpy.typing as npt


class Frozen:
    """Fields given once, by name, and never changed; can be copied and pickled.

    defaults: the values of fields that need not be given.
    """

    __slots__: tuple[str, ...] = ()
    defaults: ClassVar[dict[str, Any]] = {}

    @classmethod
    def field_names(cls) -> set[str]:
        """The names of all fields, those of base classes included."""
        return {name for kind in cls.__mro__ for name in getattr(kind, "__slots__", ())}

    def __init__(self, **fields: Any) -> None:
        fields = {**self.defaults, **fields}
        wrong = self.field_names() ^ set(fields)
        if wrong:
            raise TypeError(f"{type(self).__name__}: fields missing or unknown: {sorted(wrong)}")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def changed(self, **fields: Any) -> Any:
        """The same with other values in some fields."""
        kept = {name: getattr(self, name) for name in self.field_names()}
        return type(self)(**{**kept, **fields})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __reduce__(self) -> Any:
        fields = {name: _packed(getattr(self, name)) for name in self.field_names()}
        return _unpack, (type(self), fields)


class _Packed:
    """Typed memory on its way through a pickle, which knows no memoryviews."""

    def __init__(self, column: memoryview) -> None:
        self.code, self.content = column.format, bytes(column)

    def column(self) -> Any:
        memory: Any = memoryview(bytearray(self.content))
        return memory.cast(self.code)


def _packed(value: Any) -> Any:
    if isinstance(value, memoryview):
        return _Packed(value)
    return [_packed(item) for item in value] if isinstance(value, list) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, _Packed):
        return value.column()
    return [_unpacked(item) for item in value] if isinstance(value, list) else value


def _unpack(kind: type[Frozen], fields: dict[str, Any]) -> Frozen:
    made = object.__new__(kind)
    Frozen.__init__(made, **{name: _unpacked(value) for name, value in fields.items()})
    return made


def as_array(column: Any) -> npt.NDArray[Any]:
    """A read-only numpy view of a column."""
    import numpy

    view: npt.NDArray[Any] = numpy.asarray(column).view()
    view.flags.writeable = False
    return view

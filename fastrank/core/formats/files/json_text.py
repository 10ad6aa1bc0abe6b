"""Read JSON: one place for everything that can be wrong with it."""

from __future__ import annotations

from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def parse_json(content: str | bytes, name: str, line: int = 1) -> Any:
    """The value of JSON that begins in this line of a file; a byte-order mark is ignored.

    Raises FormatError, with the line, also for a key that occurs twice in an object, integers too
    long for Python, text that is not UTF-8, and objects that are nested too deeply.
    """
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for row, key in enumerate(keys) if key in keys[:row])
            raise FormatError(name, line, f"duplicate key {repeated!r} in an object")
        return record

    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        # Some messages end with "at" already.
        reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        raise FormatError(name, line + error.lineno - 1, reason) from None
    except FormatError:
        raise
    except RecursionError:
        raise FormatError(name, line, "objects are nested too deeply") from None
    except UnicodeDecodeError as error:
        number = line + error.object.count(b"\n", 0, error.start)
        raise FormatError(name, number, f"{error.object[error.start]:#04x} is no UTF-8") from None
    except ValueError as error:
        # Python limits integers to some thousand digits.
        raise FormatError(name, line, f"an integer is too long: {error}") from None

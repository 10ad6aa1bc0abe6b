"""Values as JSON that every reader accepts."""

from __future__ import annotations

from fastrank.common.messages import valid_json


def json_text(value: object, indent: int | None = None) -> str:
    """JSON in ASCII, with null for NaN and infinity and `\\xff` for bytes that are not UTF-8."""
    import json

    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, allow_nan=False)
    return valid_json(text)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value

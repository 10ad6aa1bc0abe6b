"""Make text from files safe to show and to read: ids and names may have any characters."""

from __future__ import annotations

# Zero-width non-joiner and joiner, which some scripts need.
JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""The text on one line, with escapes for characters that could mislead a reader.

    These are control characters, which a terminal would obey, line breaks, marks that reverse the
    order of others, unusual spaces, and bytes that are not UTF-8.

    >>> print(visible("q\x1b[2J\n\u202e"))
    q\x1b[2J\n\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def valid_json(text: str) -> str:
    r"""JSON in ASCII whose strings show bytes that are not UTF-8 as `\\xff`.

    Strict readers refuse the lone surrogates that represent these bytes in Python.

    >>> print(valid_json(r'["\udcff", "\ud83d\udc80"]'))
    ["\\xff", "\ud83d\udc80"]
    """
    if "\\udc" not in text:
        return text
    import re

    # Escaped backslashes and pairs of surrogates are matched first, so that they stay as they are.
    pattern = r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\udc([89a-f].)"
    return re.sub(pattern, lambda found: found[1] or rf"\\x{found[2]}", text)

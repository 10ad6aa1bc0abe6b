"""Numbers with their nouns."""


def counted(count: int, one: str, several: str = "") -> str:
    """`1 query`, `2 queries`.

    >>> counted(1, "row"), counted(0, "row"), counted(2, "query", "queries")
    ('1 row', '0 rows', '2 queries')
    """
    return f"{count} {one if count == 1 else several or one + 's'}"

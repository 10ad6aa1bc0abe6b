"""Judgments and runs out of what people have, and back: dicts, frames, arrays and files.

Ids are their text: `str` as UTF-8, `bytes` as they are, integers in decimal. Nothing is rounded,
nothing is guessed and nothing is skipped in silence; what cannot be told raises an error that says
where it stands. pandas, polars and pyarrow are imported only for objects of theirs.
"""

"""Drop-in interfaces of other evaluation libraries, with the same results."""

from fastrank.common.dropped import watch_imports as _watch_imports

_watch_imports()

"""What `fastrank --version` prints, and whether another package has overwritten this one."""

from __future__ import annotations

import fastrank
from fastrank.core.native import engine

MEND = "`pip install --force-reinstall --no-deps fastrank-eval`"


def version() -> str:
    """The version of fastrank, the engine that runs its kernels, and which `trec_eval` runs.

    A third line names another package that writes the same folder. Raises EngineError.
    """
    lines = [
        f"fastrank {fastrank.__version__}, engine: {engine()}",
        f"trec_eval: {_trec_eval()}",
    ]
    if name := _namesake():
        lines.append(
            f"also installed: {name}, another package, which writes the same folder"
            f" {fastrank.__path__[0]}: `pip uninstall fastrank`, then {MEND}"
        )
    return "\n".join(lines)


def overwritten() -> str | None:
    """What is wrong if `fastrank/__init__.py` is not the one of this package, or None."""
    if hasattr(fastrank, "public_names"):
        return None
    name, folder = _namesake(), fastrank.__path__[0]
    if name is None:
        return f"the __init__.py of fastrank-eval is missing in {folder}: {MEND}"
    return (
        f"{name}, another package, has overwritten files of fastrank-eval in {folder}:"
        f" `pip uninstall fastrank`, then {MEND}"
    )


def _namesake() -> str | None:
    """The name and the version of the other distribution whose import name is `fastrank`."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return f"fastrank {distribution('fastrank').version}"
    except PackageNotFoundError:
        return None


def _trec_eval() -> str:
    """The path of the command that a shell finds, and whether it starts Python for every call."""
    import shutil

    path = shutil.which("trec_eval")
    if path is None:
        return "not on the PATH"
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        return f"{path}, which cannot be read: {error.strerror}"
    # In the launcher, which the executable holds.
    if b"from fastrank.cli" not in content:
        return f"{path}, another program"
    return f"{path}, {'starts Python' if content.startswith((b'#!', b'MZ')) else 'compiled'}"

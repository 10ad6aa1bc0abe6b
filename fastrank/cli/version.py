"""What `fastrank --version` prints, and whether another package has overwritten this one."""

from __future__ import annotations

import fastrank
from fastrank.core.native import engine

MEND = "`pip install --force-reinstall --no-deps fastrank-eval`"


def version() -> str:
    """The version of fastrank, the engine that runs its kernels, and which `trec_eval` runs.

    A third line names another package with the same import name. Raises EngineError.
    """
    lines = [
        f"fastrank {fastrank.__version__}, engine: {engine()}",
        f"trec_eval: {_trec_eval()}",
    ]
    name, folder = _namesake()
    if name:
        lines.append(
            f"also installed: {name}, another package, which writes the folder"
            f" {folder}: `pip uninstall fastrank`, then {MEND}"
        )
    return "\n".join(lines)


def overwritten() -> str | None:
    """What is wrong if `fastrank/__init__.py` is not the one of this package, or None."""
    if hasattr(fastrank, "public_names"):
        return None
    (name, _), folder = _namesake(), fastrank.__path__[0]
    if not name:
        return f"the __init__.py of fastrank-eval is missing in {folder}: {MEND}"
    return (
        f"{name}, another package, has overwritten files of fastrank-eval in {folder}:"
        f" `pip uninstall fastrank`, then {MEND}"
    )


def _namesake() -> tuple[str, str]:
    """The name, with the version, and the folder of the other distribution called `fastrank`."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        namesake = distribution("fastrank")
    except PackageNotFoundError:
        return "", ""
    folder = str(namesake.locate_file("fastrank"))
    try:
        return f"fastrank {namesake.version or ''}".rstrip(), folder
    except (KeyError, UnicodeDecodeError):
        # What is left of a broken installation may have no metadata.
        return "fastrank", folder


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

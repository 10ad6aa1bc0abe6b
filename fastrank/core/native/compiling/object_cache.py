"""From LLVM code to object code, kept from one build to the next by the digest of its sources."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
import time
from typing import NamedTuple

# Code that no build has used for so long is deleted.
_KEPT_SECONDS = 30 * 24 * 3600


class Compiled(NamedTuple):
    """A kernel's object code, and how its entry point is called (`signatures.call_words`)."""

    words: str
    code: bytes


class ObjectCache:
    """A folder of files: a checksum of the rest, a line of words, and object code.

    It may always be deleted. Where it cannot be used, or a file is not as it was written, kernels
    are compiled again.

    problem: why code cannot be kept, empty if it can.
    """

    def __init__(self, folder: str | None = None) -> None:
        """folder: `objects` in fastrank's folder for caches by default."""
        self.problem = ""
        try:
            self._folder = folder or open_cache()
        except OSError as error:
            # No file is below it: nothing is found, and nothing kept.
            self._folder = os.devnull
            self.problem = f"{error.filename} ({error.strerror})"

    def get(self, digest: str, level: str) -> Compiled | None:
        """The code kept for a kernel and a CPU level; None if there is none that can be used."""
        path = self._path(digest, level)
        try:
            with open(path, "rb") as file:
                checksum, body = file.read(64), file.read()
            if hashlib.sha256(body).hexdigest().encode() != checksum:
                return None
            os.utime(path)
        except OSError:
            return None
        words, _, code = body.partition(b"\n")
        return Compiled(words.decode(), code)

    def put(self, digest: str, level: str, compiled: Compiled) -> None:
        """Keep what was compiled, where that is possible."""
        body = compiled.words.encode() + b"\n" + compiled.code
        try:
            # All or nothing: builds may run side by side.
            write_whole(self._path(digest, level), hashlib.sha256(body).hexdigest().encode() + body)
        except OSError as error:
            self.problem = self.problem or f"{self._folder} ({error.strerror})"

    def forget_old(self) -> None:
        """Delete what no build has used for a month."""
        oldest = time.time() - _KEPT_SECONDS
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.stat().st_mtime < oldest:
                        os.unlink(entry)
        except OSError:
            return

    def _path(self, digest: str, level: str) -> str:
        return os.path.join(self._folder, f"{digest}.{level}.o")


def open_cache() -> str:
    """The folder for object code among fastrank's caches, made if there is none.

    Raises OSError if it cannot be made, or if somebody else may have written what is in it.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        raise OSError(errno.EINVAL, "not an absolute path", base)
    for below in ("fastrank", os.path.join("fastrank", "objects")):
        folder = os.path.join(base, below)
        # The mode is that of the last folder; those above it are like any others.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise PermissionError(errno.EACCES, "others may write there", folder)
    return folder


def write_whole(path: str, content: bytes) -> None:
    """Write a file that appears when it is complete.

    Raises OSError that names the file, and leaves nothing then.
    """
    handle, scratch = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(scratch, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        if isinstance(error, OSError):
            error.filename = path
        raise


# The functions that compiled code may expect of the system: the memory, reading and mathematics of
# libc and libm.
ALLOWED = {
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "pread",
    "exp",
    "log",
    "log2",
    "pow",
    "sqrt",
}

# glibc 2.29 gave these new versions, which return the same values but set errno differently. Every
# glibc has the first versions, so that a library linked on a new system also loads on an old one.
_RENEWED = ("exp", "log", "log2", "pow")
_FIRST_VERSIONS = {"x86_64": "GLIBC_2.2.5", "aarch64": "GLIBC_2.17"}


class BuildError(Exception):
    """The libraries could not be made; the message says why."""


def emit_object(bitcode: bytes, cpu: str, triple: str = "", *, jit: bool = False) -> bytes:
    """Optimise a module for `cpu`, check what it still needs; return object code.

    triple: LLVM's name of another platform, which the caller has initialized; by default this one.
    jit: for LLVM's loader, which may put code and data far apart, instead of for a library.
    """
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(bitcode)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    target = llvm.Target.from_triple(triple or llvm.get_process_triple())
    machine = target.create_target_machine(
        cpu=cpu,
        features="",
        opt=3,
        reloc="default" if jit else "pic",
        codemodel="jitdefault" if jit else "default",
    )
    if triple:
        module.triple, module.data_layout = triple, str(machine.target_data)
    elif not jit:
        module.link_in(llvm.parse_assembly(_old_versions(llvm.get_process_triple())))
    # Twice, which costs 2 s of 65: with one pass the reading of a run takes 4 % longer.
    for last in (False, True):
        tuning = llvm.create_pipeline_tuning_options(speed_level=3)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = last
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    needed = {
        symbol.name
        for symbol in (*module.functions, *module.global_variables)
        if symbol.is_declaration and not symbol.name.startswith("llvm.")
    }
    if needed - ALLOWED:
        raise BuildError(f"the library would need {sorted(needed - ALLOWED)}: not in libc or libm")
    emitted: bytes = machine.emit_object(module)
    return emitted


def first_glibc(triple: str) -> str:
    """The version of the functions that every glibc of a platform has; empty for another libc."""
    return _FIRST_VERSIONS.get(triple.partition("-")[0], "") if triple.endswith("-gnu") else ""


def _old_versions(triple: str) -> str:
    """LLVM code that binds functions of libm to the versions that old systems have, too."""
    version = first_glibc(triple)
    if not version:
        return ""
    return "".join(f'module asm ".symver {name},{name}@{version}"\n' for name in _RENEWED)

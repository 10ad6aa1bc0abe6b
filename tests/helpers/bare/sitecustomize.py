"""On Python's path, it takes away what other systems, such as Windows, lack."""

from __future__ import annotations

import _ctypes
import ctypes  # noqa: F401
import mmap
import os
import signal
import subprocess  # noqa: F401
import sys

# The modules of Python that need some of it are imported above.
LACKING = {
    os: """preadv pread pwritev pwrite readv writev fork forkpty register_at_fork posix_spawn
        posix_fadvise posix_fallocate sched_getaffinity sched_setaffinity sched_yield sysconf nice
        mkfifo openpty killpg getpgid setsid statvfs fchmod chown lchown link O_CLOEXEC""",
    signal: "SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGKILL alarm setitimer pthread_sigmask sigwait",
    mmap: "MAP_PRIVATE MAP_ANONYMOUS MAP_ANON MAP_SHARED MADV_HUGEPAGE MADV_DONTNEED",
    _ctypes: "dlopen dlsym dlclose",
}
for module, names in LACKING.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for missing in ("fcntl", "resource", "termios", "pwd", "grp", "_posixshmem", "numba", "llvmlite"):
    sys.modules[missing] = None  # type: ignore[assignment]

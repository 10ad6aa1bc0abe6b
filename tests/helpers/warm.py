"""Programs that begin where their imports end: `fastrank`, `trec_eval` and Python programs.

Importing takes longer than most of what the documentation shows. So a server imports everything
once, and each program is a fork of it: a process of its own, with the arguments, the environment,
the working folder and the streams that its client got from whoever started it, such as a shell.
What depends on how Python starts is started as usual.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.helpers.paths import REPOSITORY

LINUX = sys.platform == "linux"
# What programs should not have to import.
LIBRARIES = "pandas polars pyarrow.parquet faiss matplotlib.pyplot scipy.stats sklearn.pipeline"
# The client, which imports little. A program ends with the status that the server sends.
CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    os._exit(int(server.recv(8)))
"""
# A program of a folder for the PATH. Engines are chosen when the library is imported.
PROGRAM = """\
#!/bin/sh
if [ "$FASTRANK_ENGINE" != "{engine}" ]; then exec '{python}' -m fastrank {step} "$@"; fi
exec '{python}' -IS '{client}' fastrank {step} "$@"
"""


@cache
def folder() -> Path:
    """A folder with the programs `fastrank` and `trec_eval`; starts the server, which ends with
    this process. On other systems than Linux, libraries may crash in forks: there it has none."""
    if not LINUX:
        return Path(sys.executable).parent
    made = Path(tempfile.mkdtemp())
    path, client = made / "socket", made / "client.py"
    client.write_text(CLIENT.format(path=str(path)))
    engine = os.environ.get("FASTRANK_ENGINE", "")
    for name, step in (("fastrank", ""), ("trec_eval", "trec_eval")):
        program = PROGRAM.format(python=sys.executable, client=client, step=step, engine=engine)
        (made / name).write_text(program)
        (made / name).chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, path],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        server.communicate()
        subprocess.run(["rm", "-r", made], check=True)

    atexit.register(end)
    return made


def words(*program: str) -> list[str]:
    """The command line of a program: `fastrank WORDS...` or `python -c CODE`."""
    if not LINUX:
        return [sys.executable, *(program[1:] if program[0] == "python" else ("-m", *program))]
    return [sys.executable, "-IS", str(folder() / "client.py"), *program]


def started(*program: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program, as `words` takes it."""
    return subprocess.run(words(*program), text=True, check=False, **options)


def _serve(path: str) -> None:
    """Fork for each client, until standard input ends; returns in the forks, which have become the
    program of their client."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if listening not in ready:
                sys.exit()
            client, _ = listening.accept()
            with client:
                size, streams, _, _ = socket.recv_fds(client, 8, 3)
                with client.makefile("rb") as file:
                    request = json.loads(file.read(int.from_bytes(size, "big")))
                if request[0][0] == "python":
                    _import_libraries()
                if os.fork() == 0:
                    listening.close()
                    _send_status_of_a_fork(client)
                    break
            for stream in streams:
                os.close(stream)
    sys.argv, folder, environment = request
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def _send_status_of_a_fork(client: socket.socket) -> None:
    """Send its status to the client; returns in the fork."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        client.sendall(b"%d" % os.waitstatus_to_exitcode(status))
        os._exit(0)


@cache
def _import_libraries() -> None:
    for library in LIBRARIES.split():
        with suppress(ImportError):
            import_module(library)
    gc.freeze()


def _run() -> None:
    """Be the program of sys.argv, and end as Python does, except that nothing is deleted: that
    would copy all memory that is shared with the server."""
    status: object = 0
    try:
        _begin()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def _begin() -> None:
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    if sys.argv[0] == "python":
        sys.path[0], code, sys.argv = "", sys.argv[2], ["-c"]
        exec(compile(code, "<string>", "exec"), vars(main))
    else:
        from fastrank.cli.main import launch

        sys.exit(launch())


if __name__ == "__main__":
    from fastrank.cli.main import COMMANDS, command_of

    for command in COMMANDS:
        if command != "trec_eval":
            command_of(command)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _serve(sys.argv[1])
    _run()

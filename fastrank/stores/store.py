"""The file of a store: its entries, and what is known of each without parsing its values."""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from fastrank.errors import InputError, ReadError
from fastrank.stores.evaluation import SCHEMA, check_record
from fastrank.stores.line_file import LineFile, unreadable
from fastrank.stores.records import is_intact, json_line, read_line, to_record, to_scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.scores.scores import Scores
    from fastrank.stores.evaluation import Evaluation

FAMILY, VERSION = SCHEMA.split("/")
# How every line begins, and the beginning of a line with the values of a run.
START = f'{{"schema":"{FAMILY}/'.encode()
HEAD = re.compile(
    rb'\{"schema":"%b","group":"(\w+)","run":"(\w+)","file":("(?:[^"\\]|\\.)*"),"state":(\[[\d,]+\]),("tag")?'
    % SCHEMA.encode()
)
DAMAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Entry(NamedTuple):
    """The line with the values of a run: where it is; the digest and the state of the file."""

    offset: int
    length: int
    digest: str
    state: list[int]


class Runs:
    """The entries of an evaluation: the newest of each file, and one for each digest."""

    def __init__(self) -> None:
        self.files: dict[str, Entry] = {}
        self.digests: dict[str, Entry] = {}
        self.sizes: set[int] = set()

    def add(self, file: str, entry: Entry, *, has_values: bool) -> None:
        """Add an entry, which is newer than those before it.

        A line without values has those of an earlier line with the same digest.
        """
        if not has_values:
            known = self.digests.get(entry.digest)
            if known is None:
                return
            entry = known._replace(state=entry.state)
        self.files[file] = self.digests[entry.digest] = entry
        self.sizes.add(entry.state[0])


class Store:
    """Scores of runs in a file with a line of JSON for each.

    evaluations: the descriptions of evaluations by group, in the order of the file. runs: the
    entries of each group. Both include what other processes have added when `read` was called.
    """

    def __init__(self, path: str, *, append: bool, warn: Callable[[str], None]) -> None:
        """Read a store. append: add to it, and create it if it does not exist.

        Raises ReadError, and InputError for another file and one of a newer version. Damaged lines
        are reported and ignored.
        """
        self.path = path
        self.evaluations: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, Runs] = {}
        self._damaged: list[int] = []
        self._file = LineFile(path, append=append)
        self.read()
        if self._file.rest():
            try:
                self._settle_rest(remove=append, warn=warn)
            except OSError as error:
                raise unreadable(path, error) from error
        if self._damaged:
            first, *others = self._damaged
            more = f", and {len(others)} more" if others else ""
            warn(f"{path}:{first}: ignored a damaged line (wrong checksum){more}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _settle_rest(self, *, remove: bool, warn: Callable[[str], None]) -> None:
        """Deal with an unfinished last line, unless it is being written."""
        with self._file.locked() as alone:
            self.read()
            rest = self._file.rest()
            if not rest:
                return
            if not self._file.lines and not START.startswith(rest) and not rest.startswith(START):
                raise self._other()
            if remove and alone:
                self._file.remove_rest()
        done = "removed" if remove and alone else "ignored"
        warn(f"{self.path}: {done} the unfinished last line of a process that was killed")

    def read(self) -> None:
        """Read the lines that were added since the last call. Raises ReadError, InputError."""
        for offset, line in self._file.new_lines():
            head = HEAD.match(line) if is_intact(line) else None
            try:
                if head is None:
                    self._read_other(offset, line)
                    continue
                group, digest, file, state, tag = head.groups()
                entry = Entry(offset, len(line), digest.decode(), json.loads(state))
                self._runs_of(group.decode()).add(json.loads(file), entry, has_values=bool(tag))
            except InputError:
                raise
            except DAMAGE:
                if self._file.lines == 1 and not line.startswith(START):
                    raise self._other() from None
                self._damaged.append(self._file.lines)

    def _read_other(self, offset: int, line: bytes) -> None:
        """Read a line that is not an entry as this version writes it. Raises DAMAGE, InputError."""
        record = json.loads(line)
        family, version = record["schema"].split("/")
        if family != FAMILY:
            raise ValueError(family)
        if int(version) > int(VERSION):
            reason = f"{record['schema']} is newer than this version of fastrank; upgrade it"
            raise InputError(self.path, reason)
        record = read_line(line)
        if "run" in record:
            entry = Entry(offset, len(line), record["run"], record["state"])
            runs = self._runs_of(record["group"])
            runs.add(str(record["file"]), entry, has_values="values" in record)
        else:
            check_record(record)
            self.evaluations.setdefault(record["group"], record)

    def _runs_of(self, group: str) -> Runs:
        return self.runs.setdefault(group, Runs())

    def _other(self) -> InputError:
        return InputError(self.path, "not a store of `fastrank eval --resume`")

    def scores(self, entry: Entry, evaluation: Evaluation) -> Scores:
        """The scores of an entry. Raises ReadError, also if its line has changed."""
        line = self._file.line_at(entry.offset, entry.length)
        try:
            return to_scores(read_line(line), evaluation)
        except DAMAGE:
            raise ReadError(self.path, "the file changed while it was read") from None

    def add(
        self,
        file: str,
        digest: str,
        state: list[int],
        scores: Scores | None,
        evaluation: Evaluation,
    ) -> None:
        """Add a run; without scores, it has those of a run with the same digest.

        Raises OSError, ReadError and InputError.
        """
        record = {
            "schema": SCHEMA, "group": evaluation.group, "run": digest, "file": file,
            "state": state, **(to_record(scores, evaluation) if scores else {}),
        }  # fmt: skip
        line = json_line(record) + b"\n"

        def lines() -> bytes:
            self.read()
            if evaluation.group in self.evaluations:
                return line
            return json_line(evaluation.to_record()) + b"\n" + line

        self._file.append(lines)


def file_key(path: str) -> str:
    """How a store names a file."""
    return os.path.normpath(path)

"""The metadata at the beginning of a run file, as ir_metadata defines it."""

from __future__ import annotations

from fastrank.formats.source import open_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.formats.source import Source

START, END = b"ir_metadata.start", b"ir_metadata.end"
PIECE = 1 << 16


def run_metadata(source: Source) -> str | None:
    """The ir_metadata header of a run file as YAML text; None if the file does not begin with one.

    That is what is between the lines `# ir_metadata.start` and `# ir_metadata.end`, without the
    `#` of each line. A file object is read from its position. Raises ReadError. Source: Breuer,
    Keller and Schaer, 'ir_metadata: an extensible metadata schema for IR experiments', SIGIR 2022.

    >>> import io
    >>> run = b"# ir_metadata.start\\n# actor:\\n#   team: x\\n# ir_metadata.end\\nq Q0 d 1 1 t\\n"
    >>> fr.run_metadata(io.BytesIO(run))
    'actor:\\n  team: x\\n'
    """
    found: list[str] = []
    for line in _comments(source):
        text = line[1:].removeprefix(b" ").rstrip()
        if text == END:
            return "".join(f"{own}\n" for own in found[1:])
        if found or text == START:
            found.append(text.decode("utf-8", "surrogateescape"))
    return None


def _comments(source: Source) -> list[bytes]:
    """The lines at the beginning of a file that begin with `#`."""
    with open_pieces(source) as pieces:
        reader, buffer = pieces.whole(), bytearray(PIECE)
        content = b""
        while count := reader.readinto(buffer):
            content += buffer[:count]
            lines = content.split(b"\n")
            # The last line may be incomplete.
            if not all(line.startswith(b"#") for line in lines[:-1]):
                break
    lines = content.split(b"\n")
    rest = next((i for i, line in enumerate(lines) if not line.startswith(b"#")), len(lines))
    return lines[:rest]

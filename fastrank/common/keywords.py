"""Keyword options that several functions and commands share, each described once.

A `TypedDict` lists options that belong together, with their types; a table of `Keyword`s describes
them. The static signature (`Unpack`), the runtime signature and the docstring (`takes`), the checks
and the flags of the command line are all derived from these.
"""

from __future__ import annotations

from fastrank.common.arguments import at_least, check_choice
from fastrank.common.messages import closest, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar
    from typing import TypedDict as TypedDict

    Target = TypeVar("Target", bound=Callable[..., Any])
    Given = TypeVar("Given")
else:

    class TypedDict:
        """At run time only the annotations are needed, without the cost of importing `typing`."""

        def __init_subclass__(cls, *, total: bool) -> None:
            """Accept the argument of the real TypedDict."""


# The line of a docstring that is replaced by the options of a function.
PLACEHOLDER = "**options:"
WIDTH = 100
# Names in other libraries that do not resemble those of the same options here.
SYNONYMS = {
    "cutoff": "k depth",
    "f": "format",
    "from": "input_format",
    "j": "jobs threads",
    "k": "rrf_k depth",
    "kind": "plot_kind",
    "top_k": "k depth",
    "topk": "k depth",
    "top_n": "k depth",
    "l": "relevance_level",
    "level": "relevance_level",
    "rel": "relevance_level",
    "q": "query",
    "threshold": "relevance_level",
    "metric": "measures measure",
    "metrics": "measures measure",
    "norm": "normalization",
    "order": "ties",
    "phi": "p",
    "tie_breaking": "ties",
    "doc_ids": "corpus_ids",
    "document_ids": "corpus_ids",
    "documents": "corpus",
    "docs": "corpus",
    "exclude_self": "ignore_identical_ids",
    "t": "threads",
    "to": "format",
    "n_jobs": "threads",
    "num_threads": "threads",
    "workers": "threads",
    "version": "trec_eval_version",
}


class Keyword:
    """A keyword option.

    doc: what docstrings say of it; its first sentence is the help of the flag.
    check: takes the name and a value, returns the value to use, or raises; by default the value
        must be one of the choices, if there are any. least: the smallest valid integer.
    """

    __slots__ = ("check", "choices", "default", "doc", "least", "name")

    def __init__(
        self,
        name: str,
        default: object,
        doc: str,
        *,
        check: Callable[[str, Any], object] | None = None,
        choices: tuple[str, ...] = (),
        least: int | None = None,
    ) -> None:
        self.name, self.default, self.doc = name, default, doc
        self.check, self.choices, self.least = check, choices, least

    def checked(self, value: Any) -> Any:
        """The checked value. Raises OptionError and TypeError."""
        if value is None and self.default is None:
            return None
        if self.least is not None:
            return at_least(self.name, value, self.least)
        if self.check is not None:
            return self.check(self.name, value)
        if self.choices:
            check_choice(self.name, value, self.choices)
        return value


def names_of(options: type) -> dict[str, str]:
    """The options that a TypedDict lists, with their types as strings."""
    return {
        name: type_
        for base in reversed(options.__mro__)
        for name, type_ in getattr(base, "__annotations__", {}).items()
    }


def pick(values: Mapping[str, object], options: type) -> dict[str, Any]:
    """The given options that a TypedDict lists."""
    return {name: values[name] for name in names_of(options) if name in values}


def takes(options: type, *tables: Iterable[Keyword]) -> Callable[[Target], Target]:
    """Decorate a function or class that takes the options of a TypedDict as `**options`.

    The signature gets each option with its type and default, and the line `**options:` of the
    docstring is replaced by their descriptions.
    """
    types = names_of(options)
    keywords = {
        keyword.name: keyword for table in tables for keyword in table if keyword.name in types
    }
    assert len(keywords) == len(types), f"{options.__name__}: the table has {sorted(keywords)}"

    def decorate(target: Target) -> Target:
        import inspect

        function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=keyword.default,
                annotation=types[name],
            )
            for name, keyword in keywords.items()
        ]
        vars(function)["__signature__"] = signature.replace(parameters=parameters)
        vars(function)["__options__"] = keywords
        if target.__doc__:
            target.__doc__ = documented(target.__doc__, keywords.values())
        return target

    return decorate


def documented(docstring: str, keywords: Iterable[Keyword]) -> str:
    """A docstring with the descriptions of the options in place of the placeholder."""
    lines: list[str] = []
    for line in docstring.splitlines():
        if line.lstrip().startswith(PLACEHOLDER):
            indent = line.partition("*")[0]
            for keyword in keywords:
                lines += wrapped(f"{keyword.name}: {keyword.doc}", indent)
        else:
            lines.append(line)
    return "\n".join(lines)


def wrapped(text: str, indent: str) -> list[str]:
    """The lines of a paragraph with a hanging indent."""
    words = text.split()
    lines = [indent + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}    {word}")
    return lines


def option_hint(name: object, names: Iterable[str], owner: str = "") -> str:
    """A hint at the option that an unknown one probably means, of a function or class."""
    from fastrank.common.dropped import instead

    return instead(owner, name) or did_you_mean(map(repr, closest(name, names, SYNONYMS)))


def check_names(function: Callable[..., object], options: Iterable[str]) -> None:
    """Raise TypeError, with the closest name, for an option that a function does not have.

    The function is decorated with `takes`.
    """
    for name in options:
        if name not in vars(function)["__options__"]:
            raise TypeError(
                f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                + option_hint(
                    name, vars(function)["__signature__"].parameters, function.__qualname__
                )
            )


def with_defaults(function: Callable[..., object], options: Given) -> Given:
    """The given options, as `check_names` takes them, and the defaults of the others."""
    values: Any = options
    check_names(function, values)
    keywords: dict[str, Keyword] = vars(function)["__options__"]
    defaults = {name: keyword.default for name, keyword in keywords.items()}
    return defaults | values  # type: ignore[no-any-return]

"""Which process compiles which kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping

# Of the work on a function, numba's part is done once in a process, and that of LLVM's optimiser
# for each kernel that the function ends up in. They are about equal.
_SHARED, _REPEATED = 0.5, 0.5
# How much more than an equal part of the work a process may have for sharing's sake.
_TOLERANCE = 1.05


def divide(kernels: Mapping[str, Mapping[bytes, int]], processes: int) -> list[list[str]]:
    """The kernels of each process, the dearest first; no process has none.

    kernels: the functions of each kernel, with sizes. A kernel goes where most of its functions
    are compiled anyway, unless the work there is more than an equal part.
    """
    everything: dict[bytes, int] = {}
    for functions in kernels.values():
        everything.update(functions)
    repeated = sum(_cost(functions, functions) for functions in kernels.values())
    most = _TOLERANCE * (_SHARED * sum(everything.values()) + repeated) / processes
    shares: list[tuple[list[str], dict[bytes, int]]] = [([], {}) for _ in range(processes)]
    costs = [0.0] * processes
    for name in sorted(kernels, key=lambda name: (-sum(kernels[name].values()), name)):
        more = [_cost(kernels[name], own) for _, own in shares]
        after = [cost + added for cost, added in zip(costs, more, strict=True)]
        fitting = [(more[i], costs[i], i) for i in range(processes) if after[i] <= most]
        where = min(fitting)[-1] if fitting else after.index(min(after))
        costs[where] = after[where]
        shares[where][0].append(name)
        shares[where][1].update(kernels[name])
    return [names for names, _ in shares if names]


def _cost(functions: Mapping[bytes, int], compiled: Collection[bytes]) -> float:
    """The work on functions of which some are compiled already."""
    new = sum(size for function, size in functions.items() if function not in compiled)
    return _SHARED * new + _REPEATED * sum(functions.values())

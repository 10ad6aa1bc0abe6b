"""Which process compiles which kernels."""

from __future__ import annotations

from collections.abc import Mapping

# Of the work on a function, numba's part is done once in a process, and that of LLVM's optimiser
# for each kernel that the function ends up in. They are about equal.
_SHARED, _REPEATED = 0.5, 0.5


def divide(kernels: Mapping[str, Mapping[bytes, int]], processes: int) -> list[list[str]]:
    """The kernels of each process, the dearest first; no process has none.

    kernels: the functions of each kernel, with sizes. Kernels that share functions had better be
    in one process, where these are compiled once.
    """
    shares: list[tuple[list[str], dict[bytes, int]]] = [([], {}) for _ in range(processes)]
    costs = [0.0] * processes
    for name in sorted(kernels, key=lambda name: (-sum(kernels[name].values()), name)):
        functions = kernels[name]

        def with_it(i: int, own: Mapping[bytes, int] = functions) -> float:
            new = sum(size for function, size in own.items() if function not in shares[i][1])
            return costs[i] + _SHARED * new + _REPEATED * sum(own.values())

        least = min(range(processes), key=with_it)
        costs[least] = with_it(least)
        shares[least][0].append(name)
        shares[least][1].update(functions)
    return [names for names, _ in shares if names]

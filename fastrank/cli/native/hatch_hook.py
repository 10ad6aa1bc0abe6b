"""The build hook: a wheel carries the compiled libraries and the executable `trec_eval`; a source
checkout gets the libraries in place, and a launcher, since an executable would not follow the
sources.

They are of the level of this machine's CPU alone unless FASTRANK_BUILD_LEVELS=all is set, as for
wheels that go to other machines: `pip install .` and `pip wheel .` look the same from here. Only a
wheel with all levels gets the tag of a platform that package indexes accept.

With FASTRANK_BUILD_LEVELS=none, without a C linker, and where numba has no wheels, the wheel has
neither and is for any system: the command is an ordinary entry point, and the other engines run the
kernels. The user learns about it then, from a line on standard error, because pip hides the output
of builds that succeed. FASTRANK_REQUIRE_LIBRARY=1, for releases, makes it an error of the build.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVELS = "FASTRANK_BUILD_LEVELS"


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles the kernels for wheels and editable installations."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Removed with this object, when the wheel is written.
        self._scratch = tempfile.TemporaryDirectory()

    def dependencies(self) -> list[str]:
        """The numba that kernels are compiled by, if they are."""
        with self._package():
            from fastrank.core.native.library import compilable

            compiles = self.target_name == "wheel" and os.environ.get(LEVELS) != "none"
            numba: list[str] = self.metadata.core.optional_dependencies["jit"]
            return numba if compiles and compilable() else []

    @contextmanager
    def _package(self) -> Iterator[None]:
        """The package of this checkout can be imported."""
        sys.path.insert(0, self.root)
        try:
            yield
        finally:
            sys.path.remove(self.root)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the libraries and the command, and put them where the kind of build needs them."""
        if self.target_name != "wheel":
            return
        with self._package():
            self._build(version == "editable", build_data)

    def _build(self, editable: bool, build_data: dict[str, Any]) -> None:
        from fastrank.cli.native.program import LAUNCHER, link_program
        from fastrank.core.native.build import compile_kernels, link_libraries
        from fastrank.core.native.compiling.levels import levels, local_tag, platform_tag
        from fastrank.core.native.compiling.object_cache import BuildError
        from fastrank.core.native.library import NATIVE

        folder = NATIVE if editable else self._scratch.name
        libraries, command = [], LAUNCHER
        try:
            if os.environ.get(LEVELS) != "none":
                compiled = compile_kernels()
                libraries = link_libraries(compiled, folder, installed=not editable)
                if not editable:
                    command = link_program(compiled, folder)
        except (BuildError, ModuleNotFoundError) as error:
            if os.environ.get("FASTRANK_REQUIRE_LIBRARY", "0") not in ("", "0"):
                raise
            without = "trec_eval starts Python" if libraries else "kernels are not compiled"
            self.app.display_warning(f"{without}: {error}")
        if not editable and not libraries:
            self.metadata.core.scripts["trec_eval"] = "fastrank.cli.main:launch_trec_eval"
            return
        build_data["shared_scripts"][command] = "trec_eval"
        if editable:
            return
        for library in libraries:
            target = f"fastrank/core/native/{os.path.basename(library)}"
            build_data["force_include"][library] = target
        binaries = [*libraries, *([] if command == LAUNCHER else [command])]
        platform = platform_tag(binaries) if len(compiled) == len(levels()) else local_tag()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

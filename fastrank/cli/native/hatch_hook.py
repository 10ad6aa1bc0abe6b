"""The build hook: a wheel carries the compiled libraries and the executable `trec_eval`; a source
checkout gets the libraries in place, and a launcher, since an executable would not follow the
sources.

They are of the level of this machine's CPU alone unless FASTRANK_BUILD_LEVELS=all is set, as for
wheels that go to other machines: `pip install .` and `pip wheel .` look the same from here. Only a
wheel with all levels gets the tag of a platform that package indexes accept.

Without a C linker, the wheel has neither, and numba compiles the kernels when they are first
used. The user learns about it then, from a line on standard error or from an error that names the
extra `jit`, because pip hides the output of builds that succeed. FASTRANK_REQUIRE_LIBRARY=1, for
releases, makes it an error of the build.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles the kernels for wheels and editable installations."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Removed with this object, when the wheel is written.
        self._scratch = tempfile.TemporaryDirectory()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the libraries and the command, and put them where the kind of build needs them."""
        if self.target_name != "wheel":
            return
        sys.path.insert(0, self.root)
        from fastrank.cli.native.program import LAUNCHER, link_program
        from fastrank.core.native.build import compile_kernels, link_libraries
        from fastrank.core.native.compiling.levels import levels, local_tag, platform_tag
        from fastrank.core.native.compiling.object_cache import BuildError
        from fastrank.core.native.library import NATIVE

        editable = version == "editable"
        folder = NATIVE if editable else self._scratch.name
        libraries, command = [], LAUNCHER
        try:
            compiled = compile_kernels()
            libraries = link_libraries(compiled, folder, installed=not editable)
            if not editable:
                command = link_program(compiled, folder)
        except BuildError as error:
            if os.environ.get("FASTRANK_REQUIRE_LIBRARY", "0") not in ("", "0"):
                raise
            without = "trec_eval starts Python" if libraries else "kernels are not compiled"
            self.app.display_warning(f"{without}: {error}")
        finally:
            sys.path.remove(self.root)
        build_data["shared_scripts"][command] = "trec_eval"
        if editable or not libraries:
            return
        for library in libraries:
            target = f"fastrank/core/native/{os.path.basename(library)}"
            build_data["force_include"][library] = target
        binaries = [*libraries, *([] if command == LAUNCHER else [command])]
        platform = platform_tag(binaries) if len(compiled) == len(levels()) else local_tag()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

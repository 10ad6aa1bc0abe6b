"""From LLVM code to object code for one CPU level."""

from __future__ import annotations

# What the compiled code may expect of the system: the memory, reading and mathematics of libc and
# libm.
ALLOWED = {
    "memcpy", "memmove", "memset", "memcmp", "bcmp", "pread", "exp", "log", "log2", "pow", "sqrt",
}  # fmt: skip

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


def _old_versions(triple: str) -> str:
    """LLVM code that binds functions of libm to the versions that old systems have, too."""
    version = _FIRST_VERSIONS.get(triple.partition("-")[0])
    if version is None or not triple.endswith("-linux-gnu"):
        return ""
    return "".join(f'module asm ".symver {name},{name}@{version}"\n' for name in _RENEWED)

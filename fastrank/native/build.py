"""Compiles every exported kernel into one shared library per CPU level.

    python -m fastrank.native.build [FOLDER]

Numba turns each entry point into LLVM code, llvmlite links and optimises them as one module and
writes an object file per CPU level, and the system's `cc` links it. Only numba's and llvmlite's
public API is used. Numba reads the CPU it compiles for from the environment when it is imported,
so kernels are compiled in processes of their own.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile

from fastrank.native.sources import NATIVE, library_path, read_sources

# What the compiled code may expect of the system: the memory, reading and mathematics of libc and
# libm.
ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "exp", "log", "log2", "pread"}

# CPUID, as a function of the library itself: 3 when the processor and the operating system
# support x86-64-v3. Leaf 1: FMA, MOVBE, OSXSAVE, AVX, F16C; XCR0: SSE and AVX state; leaf 7:
# BMI1, AVX2, BMI2; extended leaf: LZCNT. The function itself uses none of these.
_CPUID = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"'
_XGETBV = 'asm sideeffect "xgetbv", "={ax},={dx},{cx}"'
_CPU_LEVEL = f"""
%registers = type {{i32, i32, i32, i32}}
define i64 @fastrank_cpu_level() #0 {{
  %leaf1 = call %registers {_CPUID}(i32 1, i32 0)
  %ecx1 = extractvalue %registers %leaf1, 2
  %features1 = and i32 %ecx1, {1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29}
  %has1 = icmp eq i32 %features1, {1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29}
  br i1 %has1, label %more, label %no
more:
  %xcr0 = call {{i32, i32}} {_XGETBV}(i32 0)
  %enabled = extractvalue {{i32, i32}} %xcr0, 0
  %avx = and i32 %enabled, {1 << 1 | 1 << 2}
  %hasavx = icmp eq i32 %avx, {1 << 1 | 1 << 2}
  %leaf7 = call %registers {_CPUID}(i32 7, i32 0)
  %ebx7 = extractvalue %registers %leaf7, 1
  %features7 = and i32 %ebx7, {1 << 3 | 1 << 5 | 1 << 8}
  %has7 = icmp eq i32 %features7, {1 << 3 | 1 << 5 | 1 << 8}
  %extended = call %registers {_CPUID}(i32 {-(2**31) + 1}, i32 0)
  %ecxe = extractvalue %registers %extended, 2
  %lzcnt = and i32 %ecxe, {1 << 5}
  %haslzcnt = icmp eq i32 %lzcnt, {1 << 5}
  %some = and i1 %hasavx, %has7
  %all = and i1 %some, %haslzcnt
  br i1 %all, label %yes, label %no
yes:
  ret i64 3
no:
  ret i64 2
}}
attributes #0 = {{ "target-cpu"="x86-64" "target-features"="" }}
"""
_NO_CPU_LEVEL = "define i64 @fastrank_cpu_level() {\n  ret i64 0\n}\n"


class BuildError(Exception):
    """The libraries could not be made; the message says why."""


def levels() -> dict[str, str]:
    """The CPU levels to compile for on this machine: name to LLVM's name of the CPU."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"x86-64-v2": "x86-64-v2", "x86-64-v3": "x86-64-v3"}
    return {"baseline": "generic"}


def build(folder: str = NATIVE, *, installed: bool = False) -> list[str]:
    """Compile and link all libraries into `folder`; return their paths.

    A library carries its sources, so that it is not used when they have changed; one for an
    installed package, whose sources do not change, carries none and is loaded without a look.
    Raises BuildError when there is no C linker or a library would need more than libc and libm.
    """
    linker = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(linker[0]) is None:
        raise BuildError(f"no C linker: {linker[0]!r} is not on the PATH")
    if sys.platform == "linux":
        # No undefined symbols, whatever the process that loads the library happens to hold.
        linker.append("-Wl,-z,defs")
    made = []
    with tempfile.TemporaryDirectory() as scratch:
        sources = b"" if installed else read_sources()
        parts = [_texts(sources=sources), *_compile_parts(scratch, min(os.cpu_count() or 1, 8))]
        for level, cpu in levels().items():
            object_file = os.path.join(scratch, f"{level}.o")
            linked = os.path.join(scratch, f"{level}.so")
            with open(object_file, "wb") as file:
                file.write(emit_object(parts, cpu))
            linking = [*linker, "-shared", "-o", linked, object_file, "-lm"]
            if subprocess.run(linking, check=False).returncode:
                raise BuildError(f"linking failed: {' '.join(linking)}")
            _check_loads(linked)
            target = library_path(level, folder)
            # A copy beside the target and a rename: a process that has the old library mapped
            # keeps it, and no process ever sees half of the new one.
            shutil.copyfile(linked, f"{target}.new")
            os.replace(f"{target}.new", target)
            made.append(target)
    return made


def _check_loads(path: str) -> None:
    """Let the system's loader resolve every symbol, which finds what code generation added."""
    import ctypes

    try:
        ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        raise BuildError(f"the linked library does not load: {error}") from error


def _compile_parts(scratch: str, parts: int) -> list[bytes]:
    """Every kernel as LLVM bitcode, compiled in `parts` processes side by side.

    Nearly all of the build is numba's Python code, so the work is divided by kernels, and each
    kernel is compiled once: the code is kept general until it is optimised for a CPU level.
    """
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": next(iter(levels().values())),
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_JIT": "0",
        # Vectorising is left to the second pass, which knows the CPU level.
        "NUMBA_LOOP_VECTORIZE": "0",
        "NUMBA_SLP_VECTORIZE": "0",
        "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(NATIVE)), *sys.path]),
    }
    command = [sys.executable, "-m", "fastrank.native.build", "--part"]
    paths = [os.path.join(scratch, f"part{i}.bc") for i in range(parts)]
    running = [
        subprocess.Popen([*command, str(i), str(parts), path], env=environment)
        for i, path in enumerate(paths)
    ]
    statuses = [process.wait() for process in running]
    if any(statuses):
        raise BuildError("compiling the kernels failed; the messages above say why")
    compiled = []
    for path in paths:
        with open(path, "rb") as file:
            compiled.append(file.read())
    return compiled


def compile_part(part: int, parts: int) -> bytes:
    """LLVM bitcode of every `parts`-th entry point, in this process."""
    import llvmlite.binding as llvm
    from numba import carray, njit, types

    from fastrank.native import entries, signature
    from fastrank.native.declare import KERNELS, OPTIONS

    entries.declare_all()
    scope: dict[str, object] = {"carray": carray}
    exec(entries.import_source(), scope)
    module = llvm.parse_assembly("")
    exports = {}
    for name in list(KERNELS)[part::parts]:
        result, arguments = signature.parse(entries.flat_signature(name))
        parameters: list[object] = []
        for argument in arguments:
            if signature.is_array(argument):
                item = getattr(types, signature.item(argument))
                parameters += [types.CPointer(item), types.int64]
            else:
                parameters.append(getattr(types, argument))
        exec(entries.pointer_source(name), scope)
        wanted = getattr(types, result)(*parameters)
        entry = njit(wanted, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(scope[name])
        (types_,) = entry.signatures
        module.link_in(llvm.parse_assembly(entry.inspect_llvm(types_)))
        exports[entry.overloads[types_].fndesc.llvm_func_name] = f"fastrank_{name}"
    if part == 0:
        on_x86 = "baseline" not in levels()
        names = [f"{name} {declared.signature}" for name, declared in KERNELS.items()]
        module.link_in(llvm.parse_assembly(_CPU_LEVEL if on_x86 else _NO_CPU_LEVEL))
        held = [name for name, declared in KERNELS.items() if declared.holds_gil]
        texts = _texts(signatures="\n".join(names).encode(), held=" ".join(held).encode())
        module.link_in(llvm.parse_bitcode(texts))
    _keep_only(module, exports)
    compiled: bytes = module.as_bitcode()
    return compiled


def _texts(**texts: bytes) -> bytes:
    """LLVM constants that let the library say what it was made from, as bitcode."""
    import llvmlite.binding as llvm

    parts = []
    for name, text in texts.items():
        body = "".join(f"\\{byte:02x}" for byte in text)
        size = len(text)
        parts.append(f'@fastrank_{name} = constant [{size} x i8] c"{body}"\n')
        parts.append(f"@fastrank_{name}_size = constant i64 {size}\n")
    compiled: bytes = llvm.parse_assembly("".join(parts)).as_bitcode()
    return compiled


def _keep_only(module: object, exports: dict[str, str]) -> None:
    """Rename the entry points to their public names and make all else private to the module."""
    for function in module.functions:  # type: ignore[attr-defined]
        if function.is_declaration:
            continue
        if function.name in exports:
            function.name = exports[function.name]
        function.linkage = "external" if function.name.startswith("fastrank_") else "internal"
    for variable in module.global_variables:  # type: ignore[attr-defined]
        if not variable.is_declaration:
            public = variable.name.startswith("fastrank_")
            variable.linkage = "external" if public else "internal"


def emit_object(parts: list[bytes], cpu: str) -> bytes:
    """Link the parts, optimise them for `cpu`, check what they still need; return object code."""
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(parts[0])
    for part in parts[1:]:
        module.link_in(llvm.parse_bitcode(part))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=cpu, features="", opt=3, reloc="pic", codemodel="default"
    )
    # A second O3 over the linked module: with everything but the entry points private, this is
    # what removes the references to numba's run time.
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
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


def main(arguments: list[str]) -> int:
    """Build into a folder, or (`--part I OF FILE`) compile some kernels in this process."""
    if arguments[:1] == ["--part"]:
        _, part, parts, path = arguments
        compiled = compile_part(int(part), int(parts))
        with open(path, "wb") as file:
            file.write(compiled)
        return 0
    for path in build(*arguments[:1]):
        print(path)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildError as error:
        sys.exit(f"fastrank.native.build: {error}")

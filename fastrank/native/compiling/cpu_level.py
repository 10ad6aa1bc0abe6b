"""A function of the library itself that says which CPU level the processor has.

CPUID, since a library that the processor cannot run must not be asked for anything else: 3 when the
processor and the operating system support x86-64-v3. Leaf 1: FMA, MOVBE, OSXSAVE, AVX, F16C; XCR0:
SSE and AVX state; leaf 7: BMI1, AVX2, BMI2; extended leaf: LZCNT. The function uses none of these.
"""

from __future__ import annotations

_CPUID = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"'
_XGETBV = 'asm sideeffect "xgetbv", "={ax},={dx},{cx}"'
_X86 = f"""
%registers = type {{i32, i32, i32, i32}}
define i32 @fastrank_cpu_level() #0 {{
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
  ret i32 3
no:
  ret i32 2
}}
attributes #0 = {{ "target-cpu"="x86-64" "target-features"="" }}
"""
_ELSEWHERE = "define i32 @fastrank_cpu_level() {\n  ret i32 0\n}\n"


def cpu_level_source(on_x86: bool) -> str:
    """LLVM code of `fastrank_cpu_level`, which returns 0 where there is one level only."""
    return _X86 if on_x86 else _ELSEWHERE

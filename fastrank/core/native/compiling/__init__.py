"""How kernels become machine code ahead of time: what `fastrank.core.native.build` consists of."""

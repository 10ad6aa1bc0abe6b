"""How kernels become machine code ahead of time: what `fastrank.native.build` consists of."""

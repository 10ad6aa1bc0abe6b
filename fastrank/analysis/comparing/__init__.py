"""Statistical comparison of systems, and the agreement of rankings.

The road of `compare` and `compare_scores`:

1. `inputs` reads the values of systems, of tables with `value_forms`, `value_tables` and
   `value_cells`, and `alignment` puts them on the same queries.
2. `analysis` has the pairs of each measure tested (`pair_tests`, `randomization`, `bootstrap`,
   `tukey`), corrected, and their intervals computed. `options` are the settings of all this.
3. `Comparison` (`comparison`) is the result: the analyses, names, and notes. `pairs`, `groups` and
   `tables` answer questions about it.
4. `shown` makes a `Document` of it, for the writer of each format; `plots` and `report` draw it.

`agreement` and `overlap` compare rankings themselves; `rankings` reads these from what users give.
"""

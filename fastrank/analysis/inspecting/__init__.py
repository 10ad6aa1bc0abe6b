"""Pages to look at the results of runs, query by query."""

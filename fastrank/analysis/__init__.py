"""What values mean: comparisons, explanations, judges, gates, checks, pages, fusion, spans."""

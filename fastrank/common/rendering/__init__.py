"""The contents of results, as grids and paragraphs, and the writers of each syntax."""

"""A run is matched with judgments: the ranks and grades from which measures are computed."""

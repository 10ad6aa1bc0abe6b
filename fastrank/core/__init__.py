"""From judgments and a run to values: how it is computed."""

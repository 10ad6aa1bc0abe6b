"""The functions that evaluate a run against judgments."""

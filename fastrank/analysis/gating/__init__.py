"""Gates for CI: save the values of a run as a baseline, and check later runs against it."""

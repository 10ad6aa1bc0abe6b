"""A strict reading of judgments and runs: everything that is wrong, with its line."""

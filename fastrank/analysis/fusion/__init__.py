"""Fuse runs: by rank, by score, or by votes; and tune how."""

"""Files, frames, dicts and arrays into judgments and runs, and back."""

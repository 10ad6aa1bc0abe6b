"""Judgments and runs in tables of any kind: files, frames, arrays, dicts."""

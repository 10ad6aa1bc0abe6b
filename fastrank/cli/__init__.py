"""The commands: they parse arguments, call and print, and compute nothing."""

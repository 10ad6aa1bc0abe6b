"""The commands: parse arguments, call, print."""

"""The command `trec_eval` as an executable that starts no Python for what is usual."""

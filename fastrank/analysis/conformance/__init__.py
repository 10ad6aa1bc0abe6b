"""Small cases that find the mistakes of hand-written measures, and what says which were made."""

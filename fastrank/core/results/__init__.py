"""What a result that a user gets has in common with all others: tables, and how they are shown."""

"""The common parts of all results that users get: tables, and how they are shown."""

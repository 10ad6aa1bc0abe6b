"""The available measures: their records, notation and options."""

"""Training data for embedding models."""

"""What tasks on embeddings train."""

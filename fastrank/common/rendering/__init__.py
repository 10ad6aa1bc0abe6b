"""What results show, as grids and paragraphs, and the writers of each syntax."""

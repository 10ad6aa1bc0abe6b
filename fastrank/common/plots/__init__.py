"""What plots have in common: the frame around the data, and the style."""

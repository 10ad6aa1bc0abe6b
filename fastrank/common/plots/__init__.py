"""The common parts of plots: the frame around the data, and the style."""

"""A comparison as an HTML file."""

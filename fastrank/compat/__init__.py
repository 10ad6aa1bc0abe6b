"""Drop-in interfaces of other evaluation libraries, with the same results."""

"""The interfaces of other evaluation libraries, with their numbers, on top of this one."""

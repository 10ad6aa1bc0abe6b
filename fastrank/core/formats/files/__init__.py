"""The bytes of files: opened, decompressed, read in parts, written."""

"""Compressed images of folders, in which a start has little to decompress."""

"""Reads ELF files, archives of them, and what the loader makes of them."""

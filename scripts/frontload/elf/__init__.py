"""Reads ELF files, archives of them, and the tables of the loader."""

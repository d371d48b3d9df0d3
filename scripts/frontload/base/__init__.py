"""Shared by all other packages: diagnostics and exit codes, files, our native programs, tables."""

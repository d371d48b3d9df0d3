"""What every other room may use: diagnostics and exit codes, files, our native programs, tables."""

"""The kernel's page cache: what of a file is in it, and how to empty or fill it."""

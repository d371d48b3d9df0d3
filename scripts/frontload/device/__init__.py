"""A device of its own for measured files, slowed by the kernel to what other hardware does."""

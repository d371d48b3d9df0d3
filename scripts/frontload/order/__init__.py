"""Order files: startup profiles for other linkers, one module a format."""

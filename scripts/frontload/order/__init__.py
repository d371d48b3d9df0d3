"""Order files: what other linkers can do with a startup profile, one module a format."""

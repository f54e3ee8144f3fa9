"""Makers of malformed files, one module a format. Each has `files()`, which yields `(name, bytes)`."""

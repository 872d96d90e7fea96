"""One file a format. Each says the same verdict."""

"""Forward-only migrations, run by the service itself."""

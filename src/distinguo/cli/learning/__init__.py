"""Commands that learn, and that measure how well."""

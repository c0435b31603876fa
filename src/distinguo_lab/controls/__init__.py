"""The paper's control representations beyond the simple ones, and features by name."""

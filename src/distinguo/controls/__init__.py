"""The paper's control representations, each built by its procedure."""

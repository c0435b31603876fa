"""Any Gymnasium environment as a task, with ways back to its earlier states."""

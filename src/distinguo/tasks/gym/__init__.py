"""Any Gymnasium environment as a task, with snapshots to go back to earlier states."""

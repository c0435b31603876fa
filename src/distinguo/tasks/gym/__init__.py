"""Any Gymnasium environment as a task, with snapshots to restore earlier states."""

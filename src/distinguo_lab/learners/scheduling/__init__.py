"""What drives investigation: which region is looked into next, as interchangeable schedulers (sections 5.3, 5.4)."""

"""What drives investigation: which region is investigated next, by interchangeable schedulers (sections 5.3, 5.4)."""

"""Pages: reports in HTML, and fragments for notebooks."""

"""Where jobs are done: threads, processes, or a cluster. The results do not depend on it."""

"""Decision boundary partitioning: a kd-tree that is refined where its own policy changes (Reynolds 2000)."""

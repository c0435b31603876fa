"""Maps that were distilled from a policy: their settings, and what a run of theirs is called."""

"""Commands that look at what was learned: show, explain, prove, hand over."""

"""Trees of boxes that grow: kd-trees, whose leaves are halved one at a time."""

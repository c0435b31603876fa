"""What a pane shows: a run in a folder, or one that is learned in the studio itself."""

"""What is done with a map that solves its task: made fit for other learners, condensed, and priced."""

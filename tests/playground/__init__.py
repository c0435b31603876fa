"""The playground's learner beside the package's."""

"""Pictures beside the plain map: where the policy leads, where it must not err, what it costs, where it came from."""

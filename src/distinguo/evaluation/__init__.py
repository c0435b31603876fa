"""The separate tester and everything else that measures: simulation, audit, statistics. Knows no learner."""

"""The separate tester and everything else that judges: simulation, audit, statistics. Knows no learner."""

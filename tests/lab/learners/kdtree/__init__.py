"""Tests of the learner on a kd-tree."""

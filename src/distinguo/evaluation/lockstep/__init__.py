"""Greedy evaluation of many trials in lock-step, at the speed of C."""

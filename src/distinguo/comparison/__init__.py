"""Comparisons of representations: a plan, its cells, and the engines that run them."""

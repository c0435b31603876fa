"""Comparisons of representations: a plan, the cells that it consists of, and the engines that work them off."""

"""Parti-game: cells for tasks with a goal, split where a worst case cannot be won (Moore and Atkeson, 1995)."""

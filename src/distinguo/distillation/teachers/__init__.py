"""Policies that are distilled, whatever they are, brought to one form."""

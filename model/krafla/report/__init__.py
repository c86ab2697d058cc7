"""Verdicts in the forms that people and machines read."""

"""Verdicts, explanations and pages, in forms for people and for machines."""

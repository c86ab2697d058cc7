"""Explanations of traces: their content, and the media that show it."""

"""Explanations of traces: what is shown, and the media that show it."""

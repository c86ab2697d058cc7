"""Implementation step to spec action: the only place that sees both sides."""

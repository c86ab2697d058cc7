"""The active controller, as far as the broker lease goes."""

"""The broker process, as far as the broker lease goes."""

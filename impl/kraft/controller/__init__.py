"""The active controller, as far as the broker lease goes.

Operations generate records; `replay` makes an image of them; `kraft.controller.active` has the
handlers that join the two.
"""

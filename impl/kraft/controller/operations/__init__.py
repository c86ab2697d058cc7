"""The operations of the controller: each takes the image and a request, and returns records."""

"""The refinement of Reassignment: a partition in the controller and at its leaders."""

"""A partition in the controller and at its leaders, as states and steps of Reassignment."""

"""The refinement of ControllerRegistration: controllers that register with the active one."""

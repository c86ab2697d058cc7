"""Controllers that register, judged by ControllerRegistration."""

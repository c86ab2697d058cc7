"""The simulation of registration: controllers register, and the metadata version rises.

The records of the active controller are committed at once. A configuration and a list of choices
reproduce a run.
"""

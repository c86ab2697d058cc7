"""Controllers that register, and a metadata version that rises: choices in, states out.

What the active controller writes is committed at once. A configuration and a list of choices
reproduce a run.
"""

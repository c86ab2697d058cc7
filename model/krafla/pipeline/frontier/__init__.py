"""The state space of a model, breadth first, on Spark: counted exactly as TLC counts.

``search`` runs or resumes one; ``docs/internals/frontier.md`` has the design and its measures.
"""

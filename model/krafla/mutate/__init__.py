"""Mutation of the specs: small mistakes put into them, and the property that notices each.

``population`` lists the mutants of a folder of specs, and ``run_trials`` tries them on the models.
``krafla.cli.mutate`` calls both; docs/internals/mutation.md explains the results.
"""

"""Mutation of the specs: small mistakes put into them, and which property notices each.

``population`` lists the mutants of a folder of specs, ``run_trials`` tries them on the models,
``krafla.cli.mutate`` asks for both; docs/internals/mutation.md says what the answers mean.
"""

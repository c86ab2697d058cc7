"""The shared parts of the simulations: results of a step, outcomes, recordings."""

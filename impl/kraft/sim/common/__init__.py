"""What the simulations share: results of a step, outcomes, recordings."""

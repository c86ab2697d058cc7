"""What the refinements share: locksteps, judgements, the loaded spec and the recorded trace."""

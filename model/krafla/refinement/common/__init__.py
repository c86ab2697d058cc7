"""What every refinement shares: the judge, its judgements, the spec behind it, the trace."""

"""Campaigns of simulated seeds as DataFrames: each seed is played once, whatever dies meanwhile."""

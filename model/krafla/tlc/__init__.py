"""TLC as a library: provide it, run a model, parse its output, make a trace of it."""

"""TLC as a library: provision it, run a model, read what it says, turn it into a trace."""

"""The judge: everything that reads the TLA+ specs and passes sentence by them."""

"""The refinement of BrokerLease: the simulated lease as its states and steps."""

"""The simulated lease as states and steps of BrokerLease."""

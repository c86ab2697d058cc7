"""The simulation of the broker lease: brokers, one controller and a network."""

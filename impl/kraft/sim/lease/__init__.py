"""The broker lease, simulated: brokers, one controller, a network; choices in, states out."""

"""The refinement of Cluster: controllers, brokers and one partition as its states and steps."""

"""Controllers, brokers and one partition together, as states and steps of Cluster."""

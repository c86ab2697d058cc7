"""Real clusters of Apache Kafka: started here, driven by a scenario, collected for the audit."""

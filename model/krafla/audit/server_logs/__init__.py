"""Server logs of real Kafka as partial traces of BrokerLease, joined with the metadata log."""

"""Controllers and brokers over one log, as states and steps of MetadataLog."""

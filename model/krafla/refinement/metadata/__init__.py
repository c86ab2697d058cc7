"""The refinement of MetadataLog: controllers and brokers over one log as its states and steps."""

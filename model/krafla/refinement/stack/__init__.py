"""The refinement of MetadataLogSteps: what controllers and brokers of the stack show."""

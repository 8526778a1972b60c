"""What an editor can ask: a file a feature, each a function from a document to the protocol's types."""

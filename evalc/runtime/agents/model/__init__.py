"""From a case's input to a model's answer: the APIs of the providers, and the loop that answers tool calls by stubs."""

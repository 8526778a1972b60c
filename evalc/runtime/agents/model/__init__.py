"""Models as agents: the APIs of the providers, and the loop that answers tool calls with stubs."""

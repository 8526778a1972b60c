"""The agent behind a URL, and the HTTP transport that models and judges share with it."""

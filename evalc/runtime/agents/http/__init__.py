"""From a request to an answer over HTTP: the agent behind a URL, and the transport that models and judges use too."""

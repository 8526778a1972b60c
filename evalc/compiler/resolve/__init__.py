"""From merged suites to what their names stand for: prompts, inputs, the suite and its tool."""

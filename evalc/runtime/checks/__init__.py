"""From a check and what an agent answered to a verdict; one family of checks a file."""

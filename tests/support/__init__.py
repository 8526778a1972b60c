"""What tests of several packages lean on: real servers on the loopback interface."""

"""Compiles syntax trees and eval JSON to the IR and on to JSON cases, and reports every problem at once."""

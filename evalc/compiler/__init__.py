"""From syntax trees and eval JSON to the IR, from the IR to the JSON case model; every problem on the way, at once."""

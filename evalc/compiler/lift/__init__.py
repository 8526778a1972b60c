"""From eval JSON to the IR, with places in the JSON text, and to what is wrong with it: the inverse of `lower`."""

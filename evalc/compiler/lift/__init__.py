"""Lifts eval JSON into the IR, with places in the JSON text: the inverse of `lower`."""

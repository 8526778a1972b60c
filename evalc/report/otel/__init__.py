"""Exports runs to an OTLP receiver. Needs the extra `otel`."""

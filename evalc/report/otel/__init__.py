"""From a run to spans of OpenTelemetry at an OTLP receiver; needs the extra `otel`, and is imported for it alone."""

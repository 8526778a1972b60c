"""A suite whose one case fails on the demo agent: its check wants Paris of an answer about Rome."""

FAILING = """\
suite: weather
eval:
  criteria:
    - "clarity (1): Clear"
  test_cases:
    - name: rome
      message: What is the weather in Rome?
      validate:
        - contains "Paris" for clarity
"""

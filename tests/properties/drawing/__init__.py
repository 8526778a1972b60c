"""Draws whole suites: what they mean, how they are written in YAML, and the JSON that says the same.

Every suite is sound by construction: all its checks hold of one answer, so that no two of them can contradict each
other. `worlds` has the answers, `checks` and `compositions` what can be said of them in each spelling, `cases` and
`suites` all that stands around, `sharing` what several cases share, `yaml_text` styles and comments.
Each drawn thing knows its twin, the JSON that a hand would write for it.
"""

"""From merged suites and their names to the IR: a case by `case`, each part of it by a file of its own."""

"""From the texts of the small languages (check, rule, criterion, template) to their nodes. Lark lives here alone."""

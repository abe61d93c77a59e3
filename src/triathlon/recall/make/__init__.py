"""Building a recall data set: sources read, sessions rendered, facts and rules planted, items cut to length."""

"""The way of making a release, audited: a generator is run on some of the people, and the others are the control."""

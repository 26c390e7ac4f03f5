"""Tables that an owner may have instead of a control group: sibling releases, their people, and a population file."""

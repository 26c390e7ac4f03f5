"""Column names of an audit inside a study, shared by grades and reports."""

#: The clearest excess beyond what anybody reaches without the data: of all questions, and ``risk.<question>`` of one.
RISK = "risk"
#: What a release has lost, from 0 to 1: all of it, and its three parts.
LOST = ("utility.column_loss", "utility.association_loss", "utility.discrimination", "utility.rows_kept")
LOSS = "utility.loss"
#: Counts beside them: people and columns of the original, people who stand in the release word for word, how many
#: of them by coincidence (known with a control alone), and columns with values that the original never takes.
PEOPLE, COLUMNS = "people", "columns"
MORE = (PEOPLE, COLUMNS, "copies.expected", "copies.people_unchanged", "unseen_columns")
#: The share of people who stand in the release word for word.
COPIED = "copies.attack_rate"
#: How often records of one person are linked by somebody who holds two halves of the columns.
LINKED = "linkability.attack_rate"
#: Whether the verdict accuses the release, and whether there was a control that could be used: 1 or 0.
PROVED, COMPARED = "verdict.proved", "verdict.compared"

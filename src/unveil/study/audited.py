"""What an audit in a study is known by: the names of numbers that grades and reports look for among its columns."""

#: The clearest excess beyond what anybody reaches without the data: of all questions, and ``risk.<question>`` of one.
RISK = "risk"
#: What a release has lost, from 0 to 1: all of it, and its three parts.
LOST = ("utility.column_loss", "utility.association_loss", "utility.discrimination", "utility.rows_kept")
LOSS = "utility.loss"
#: Counts beside them.
MORE = ("people", "copies.expected", "copies.people_unchanged", "unseen_values")
#: Whether the verdict accuses the release, and whether there was a control that could be used: 1 or 0.
PROVED, COMPARED = "verdict.proved", "verdict.compared"

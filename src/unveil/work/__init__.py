"""One engine for work: tasks, the executors that run them, and folders that keep their results."""

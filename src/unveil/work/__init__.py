"""Work engine: tasks, executors, and result folders."""

"""Released cells that stand for several values: how far people are from them, and how much rows of them weigh."""

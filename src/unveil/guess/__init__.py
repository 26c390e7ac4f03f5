"""What the adversary now holds: every attack leaves one of these, and every metric measures those it fits."""

from unveil.guess.candidates import Candidates
from unveil.guess.partition import Partition, View

__all__ = ["Candidates", "Partition", "View"]

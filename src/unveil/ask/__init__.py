"""One file per question: attack, measure and report, tied into an answer with numbers, a page and a picture."""

from unveil.ask.partition import PartitionAnswer, partition
from unveil.ask.partition_files import partition_files
from unveil.ask.quantities import Quantity

__all__ = ["PartitionAnswer", "Quantity", "partition", "partition_files"]

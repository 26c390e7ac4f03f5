"""What anybody can work out from published counts by adding, subtracting and solving."""

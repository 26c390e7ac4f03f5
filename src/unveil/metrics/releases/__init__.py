"""What a released table gives away and what it is still worth, without any attack."""

"""What the holder of counts does before they are published."""

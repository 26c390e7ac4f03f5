"""How any answer looks: pages as data, and what makes HTML, text, JSON and pictures of them; it knows no question."""

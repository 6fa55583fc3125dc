"""What asks the web: the abstract client that users can implement, and the one on requests."""

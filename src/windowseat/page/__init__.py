"""What is done to one page: reading it, acting in it, navigating it, answering what it asks."""

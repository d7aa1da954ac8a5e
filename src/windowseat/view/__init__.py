"""What a person gets of one tab: its pictures, their hands in it, and who else is there."""

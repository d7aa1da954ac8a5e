"""What several rooms' tests need: a real Chromium, and pages served on loopback."""

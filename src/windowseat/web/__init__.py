"""What answers over HTTP: the two origins, admission, the hub's API and the static pages."""

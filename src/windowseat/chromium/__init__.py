"""The browser itself: finding it, flags, keeper, pipe, typed calls, bridge. Knows no sessions."""

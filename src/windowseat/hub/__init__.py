"""The one owner of tabs: targets, ids, sessions, the tab list and the store."""

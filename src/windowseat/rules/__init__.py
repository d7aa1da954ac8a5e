"""Pure rules: no asyncio, no sockets, no files, no clock. Time and events are arguments."""

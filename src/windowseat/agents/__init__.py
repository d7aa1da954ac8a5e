"""How agents' commands reach tabs: the broker, the kernels, and the MCP server."""

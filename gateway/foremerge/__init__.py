"""The Foremerge protocol's two doors, `/mcp/foremerge` and `/v1`, on gitring's own record."""

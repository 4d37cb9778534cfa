"""The `foremerge` command: the Foremerge protocol's command tree, spoken to gitring's server over HTTP."""

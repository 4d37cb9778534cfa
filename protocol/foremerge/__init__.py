"""The words of the Foremerge protocol: the second face of gitring. snake_case on the wire, and nothing here runs."""

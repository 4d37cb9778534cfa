"""The servers `gitring up` brings along, from wheels: Postgres, NATS and the Temporal development server."""

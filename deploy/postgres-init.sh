#!/bin/sh
# Runs once, when the Postgres volume is empty: Temporal gets a role of its own and never sees gitring's record.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$TEMPORAL_DB_PASSWORD" --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'password';
REVOKE CONNECT ON DATABASE gitring FROM PUBLIC;
SQL

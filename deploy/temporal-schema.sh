#!/bin/sh
# Makes Temporal's two databases, or brings them to the shape of this version. Safe to repeat.
set -eu
for database in temporal temporal_visibility; do
    schema=${database#temporal_}
    temporal-sql-tool --db "$database" create
    temporal-sql-tool --db "$database" setup-schema --version 0.0
    temporal-sql-tool --db "$database" update-schema \
        --schema-dir "/etc/temporal/schema/postgresql/v12/$schema/versioned"
done

"""`python -m tests.docs`: write the tables of the documents anew from the code."""

import sys

from tests.docs.tables import TABLES, rewrite

for name in TABLES:
    sys.stdout.write(f"{name}: {rewrite(name)}\n")

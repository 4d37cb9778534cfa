"""Entry of the child that reads a push. `-I` leaves the installed packages on the path; ours are added behind them."""

import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from gateway.contents.child import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Entry of a child. `-I` leaves the installed packages on the path; ours are added behind them."""

import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from activities.parsing.child import main

if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))

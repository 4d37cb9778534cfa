"""Entry of the launcher. `-I -S` leaves only the standard library on the path; our packages are added behind it."""

import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))

from activities.runner.launch.supervisor import main

if __name__ == "__main__":
    os._exit(main())  # nothing is left to flush, and a check waits for this process

"""`python -m rankduel` is `rankduel`."""

import sys

from rankduel.cli import main

sys.exit(main())

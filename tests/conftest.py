"""Settings of every test run."""

import os

from hypothesis import settings

# A shared machine stalls now and then, so no example is failed for its time; pytest's timeout still ends a hang.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)  # the same examples for the same source
settings.load_profile("ci" if os.environ.get("CI") else "local")

"""Write mteb.json: what tasks of mteb find on generated vectors.

    python record_mteb.py > mteb.json

See README.md for the environment.
"""

import json

from tests.helpers.mteb_cases import CASES, mteb_values

rows = (f"{json.dumps(name)}: {json.dumps(mteb_values(name))}" for name in CASES)
print("{\n" + ",\n".join(rows) + "\n}")

"""byte_entropy.py OUTPUT (SHARE FILE BYTES)...: a run's baseline is that of the first bytes, mixed by shares."""

import collections
import math
import re
import sys

output, arguments = open(sys.argv[1]).read(), sys.argv[2:]
portions = collections.Counter()
for share, name, count in zip(arguments[::3], arguments[1::3], arguments[2::3]):
    for byte, times in collections.Counter(open(name, "rb").read()[: int(count)]).items():
        portions[byte] += float(share) * times / int(count)
entropy = -sum(portion * math.log(portion) for portion in portions.values())
said = re.search(r"byte frequencies alone: ([0-9.]+)", output).group(1)
assert said == f"{entropy:.4f}", (said, entropy)

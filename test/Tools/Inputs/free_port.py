"""free_port.py: prints a port that is free, as is the one above, as a variable of shells. The system hands out neither to
other processes meanwhile, as it takes higher ones."""
import random
import socket

with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
    lowest = int(file.read().split()[0])
while True:
    port = random.randrange(10000, max(lowest, 12000) - 1)
    try:
        with socket.socket() as one, socket.socket() as above:
            one.bind(("127.0.0.1", port))
            above.bind(("127.0.0.1", port + 1))
        break
    except OSError:
        continue
print(f"export MASTER_PORT={port}")

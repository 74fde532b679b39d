"""Finds processes that a launcher has started."""
import os


def process_with(**variables):
    """Returns the number of the process `tessera` that was started with these variables, or None."""
    wanted = {f"{name}={value}".encode() for name, value in variables.items()}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                given = set(file.read().split(b"\0"))
            with open(f"/proc/{process}/comm") as file:
                name = file.read().strip()
        except OSError:  # it has ended
            continue
        if name == "tessera" and wanted <= given:
            return int(process)
    return None

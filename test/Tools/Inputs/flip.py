"""flip.py FILE OFFSET: changes the lowest bit of a byte; a negative offset counts from the end."""
import sys

path, offset = sys.argv[1], int(sys.argv[2])
with open(path, "r+b") as file:
    file.seek(offset, 0 if offset >= 0 else 2)
    byte = file.read(1)[0] ^ 1
    file.seek(-1, 1)
    file.write(bytes([byte]))

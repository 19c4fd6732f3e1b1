"""Files of object stores and web servers: addresses, reading, listing, local copies and writing."""

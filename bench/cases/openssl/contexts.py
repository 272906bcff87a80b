# SPDX-License-Identifier: MIT
"""contexts.py THREADS SECONDS: default TLS contexts, as every HTTPS client makes them, a second."""

import ssl
import sys
import threading
import time

count, seconds = int(sys.argv[1]), float(sys.argv[2])
made, begin = [], time.monotonic()


def work():
    while time.monotonic() < begin + seconds:
        ssl.create_default_context()
        made.append(1)


threads = [threading.Thread(target=work) for _ in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(made) / (time.monotonic() - begin))

# SPDX-License-Identifier: MIT
# Makes default TLS contexts, as every HTTPS client does, with so many threads, for three seconds.
# Prints how many it made a second. README has figures; doc/shim.md says why scaling readers help.
# [quote begin]
import ssl, sys, threading, time
made, end = [], time.time() + 3
def work():
    while time.time() < end: ssl.create_default_context(); made.append(1)
threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
[t.start() for t in threads]; [t.join() for t in threads]; print(len(made) / 3)
# [quote end]

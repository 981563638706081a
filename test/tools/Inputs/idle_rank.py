"""idle_rank.py LIBRARY SECONDS...: a rank that only connects, and ends with code 0 after so many seconds, the k-th number for rank k. A spare does not
even connect; it ends after a minute."""

import ctypes
import os
import sys
import time

if os.environ.get("TPRT_SPARE") == "1":
    time.sleep(60)
    sys.exit("nobody ended this spare")
comm = ctypes.c_void_p()
if ctypes.CDLL(sys.argv[1]).tprt_world_create(0, 0, None, ctypes.byref(comm)):
    sys.exit("there is no world")
time.sleep(float(sys.argv[2 + int(os.environ["TPRT_RANK"])]))
os._exit(0)

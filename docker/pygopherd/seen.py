"""A "protocol" for pygopherd that takes no request, but appends each one to the log: its own log leaves out what stands
behind the selector. A line is as common/log-lines.pl writes it."""

import os
import time

from pygopherd.protocols.base import BaseGopherProtocol

LOG = "/log/pygopherd.log"


class Seen(BaseGopherProtocol):
    def canhandlerequest(self):
        request = self.request.encode(errors="surrogateescape").removesuffix(b"\n").removesuffix(b"\r")
        line = "".join(chr(octet) if 0x20 <= octet <= 0x7E and octet != 0x5C else f"\\x{octet:02x}" for octet in request)
        tls = "TLS " if self.check_tls() else ""
        with open(LOG, "a") as log:
            log.write(f"{int(time.time())}.{os.getpid()} {tls}{line}\n")
        return False

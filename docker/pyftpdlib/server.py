"""server.py PORT FIRST-DATA-PORT LAST-DATA-PORT ROOT: an anonymous, read-only FTP server."""

import logging
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

port, first, last = (int(text) for text in sys.argv[1:4])
logging.basicConfig(filename="/log/pyftpdlib.log", level=logging.INFO)
authorizer = DummyAuthorizer()
authorizer.add_anonymous(sys.argv[4])


class Handler(FTPHandler):
    """The handler of every connection."""


Handler.authorizer = authorizer
Handler.passive_ports = range(first, last + 1)
FTPServer(("0.0.0.0", port), Handler).serve_forever()

"""server.py PORT FIRST-DATA-PORT LAST-DATA-PORT ROOT: an anonymous, read-only FTP server."""

import sys

from twisted.cred.checkers import AllowAnonymousAccess
from twisted.cred.portal import Portal
from twisted.internet import reactor
from twisted.protocols.ftp import FTPFactory, FTPRealm
from twisted.python import log

port, first, last = (int(text) for text in sys.argv[1:4])
log.startLogging(open("/log/twisted.log", "a"), setStdout=False)
factory = FTPFactory(Portal(FTPRealm(sys.argv[4]), [AllowAnonymousAccess()]))
factory.passivePortRange = range(first, last + 1)
reactor.listenTCP(port, factory)
reactor.run()

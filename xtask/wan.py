#!/usr/bin/env python3
"""A long way on one machine: two network namespaces, and between them a link that holds each packet back.

    wan.py ROUND_TRIP_MS

Makes the namespaces `fetch-url-near` (10.77.0.1) and `fetch-url-far` (10.77.0.2), says "ready", and forwards until its
standard input is closed; then both are gone. Needs root, iproute2 and /dev/net/tun; no kernel module for delays.
Run something at an end with `ip netns exec NAME COMMAND`.
"""
import collections
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import threading
import time

ENDS = {"fetch-url-near": "10.77.0.1/24", "fetch-url-far": "10.77.0.2/24"}
TUNSETIFF, TUN_WITHOUT_HEADER, CLONE_NEWNET = 0x400454CA, 0x1001, 0x40000000
MOST_WAITING = 10_000


def ip(*words, check=True):
    subprocess.run(["ip", *words], check=check, stderr=None if check else subprocess.DEVNULL)


def open_end(name, address, opened):
    """A tun device in the namespace: whatever is sent into it can be read here. In a thread of its own, since
    a thread that has entered a namespace stays there."""
    ip("netns", "del", name, check=False)
    ip("netns", "add", name)
    if ctypes.CDLL(None, use_errno=True).setns(os.open(f"/run/netns/{name}", os.O_RDONLY), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"wan0", TUN_WITHOUT_HEADER))
    ip("addr", "add", address, "dev", "wan0")
    ip("link", "set", "wan0", "up", "txqueuelen", "10000")
    ip("link", "set", "lo", "up")
    opened.append(device)


def forward(ends, delay):
    """Each packet goes on after `delay` seconds, in the order it came: one queue for each direction."""
    ways = [(ends[0], ends[1], collections.deque()), (ends[1], ends[0], collections.deque())]
    while True:
        now = time.monotonic()
        dues = []
        for _, to, waiting in ways:
            while waiting and waiting[0][0] <= now:
                try:
                    os.write(to, waiting.popleft()[1])
                except OSError:
                    pass  # a device that is full drops packets, as any router does
            dues.extend(due for due, _ in list(waiting)[:1])
        timeout = max(0.0, min(dues) - now) if dues else None
        readable, _, _ = select.select([sys.stdin, *ends], [], [], timeout)
        if sys.stdin in readable:
            return
        for here, _, waiting in ways:
            while here in readable and len(waiting) < MOST_WAITING:
                try:
                    waiting.append((time.monotonic() + delay, os.read(here, 65536)))
                except BlockingIOError:
                    break


def main():
    delay = float(sys.argv[1]) / 2000
    opened = []
    try:
        for name, address in ENDS.items():
            end = threading.Thread(target=open_end, args=(name, address, opened))
            end.start()
            end.join()
        if len(opened) == len(ENDS):
            print("ready", flush=True)
            forward(opened, delay)
    finally:
        for name in ENDS:
            ip("netns", "del", name, check=False)


main()

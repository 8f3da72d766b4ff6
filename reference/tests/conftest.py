"""A shell lets what it starts in the background ignore Ctrl-C, and every run started there too."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)

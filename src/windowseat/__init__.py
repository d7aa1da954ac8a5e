"""Windowseat: one Chromium on a machine, shared by people and coding agents."""

__version__ = "0.1.0"

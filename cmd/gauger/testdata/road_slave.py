"""A tank's PLC made with pymodbus: holding 100 is a float32, low word first, and holds what standard input says last.

usage: road_slave.py PORT
"""
import struct
import sys
import threading

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server import StartTcpServer

LEVEL = 100

block = ModbusSequentialDataBlock(0, [0] * 200)


def write(line):
    high, low = struct.unpack(">HH", struct.pack(">f", float(line)))
    block.setValues(LEVEL, [low, high])


def follow():
    for line in sys.stdin:
        write(line)


write(sys.stdin.readline())
threading.Thread(target=follow, daemon=True).start()
context = ModbusServerContext(slaves=ModbusSlaveContext(hr=block, zero_mode=True), single=True)
StartTcpServer(context=context, address=("127.0.0.1", int(sys.argv[1])))

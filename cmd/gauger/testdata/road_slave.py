"""A tank's PLC made with pymodbus: holding 100 is a float32, low word first, and holds what standard input says last.

It prints its port and serves on loopback until it is killed.
"""
import asyncio
import struct
import sys
import threading

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server.async_io import ModbusTcpServer

LEVEL = 100

block = ModbusSequentialDataBlock(0, [0] * 200)


def write(line):
    high, low = struct.unpack(">HH", struct.pack(">f", float(line)))
    block.setValues(LEVEL, [low, high])


def follow():
    for line in sys.stdin:
        write(line)


async def serve():
    context = ModbusServerContext(slaves=ModbusSlaveContext(hr=block, zero_mode=True), single=True)
    server = ModbusTcpServer(context, address=("127.0.0.1", 0))
    forever = asyncio.create_task(server.serve_forever())
    await server.serving
    print("port", server.server.sockets[0].getsockname()[1], flush=True)
    await forever


write(sys.stdin.readline())
threading.Thread(target=follow, daemon=True).start()
asyncio.run(serve())

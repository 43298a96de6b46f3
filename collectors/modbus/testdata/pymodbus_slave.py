"""A Modbus slave made with pymodbus, as a stranger to test against.

usage: pymodbus_slave.py VALUES tcp PORT | rtu+tcp PORT | ascii+tcp PORT | tls PORT CERTIFICATE KEY
       pymodbus_slave.py VALUES rtu DEVICE BAUD | ascii DEVICE BAUD

VALUES has one value per line: unit, table, address, type, order, value. Addresses that no line names do not exist.
"""
import sys

from pymodbus.constants import Endian
from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
from pymodbus.payload import BinaryPayloadBuilder
from pymodbus.server import StartSerialServer, StartTcpServer, StartTlsServer
from pymodbus.transaction import ModbusAsciiFramer, ModbusRtuFramer, ModbusSocketFramer

BYTES = {"ABCD": Endian.Big, "CDAB": Endian.Big, "BADC": Endian.Little, "DCBA": Endian.Little}
WORDS = {"ABCD": Endian.Big, "CDAB": Endian.Little, "BADC": Endian.Big, "DCBA": Endian.Little}
# Secured Modbus carries the same frames as Modbus TCP; this library's own framer for it leaves their header out.
FRAMERS = {"tcp": ModbusSocketFramer, "tls": ModbusSocketFramer, "rtu": ModbusRtuFramer, "ascii": ModbusAsciiFramer}
TABLES = {"holding": "hr", "input": "ir", "coil": "co", "discrete": "di"}


def registers(kind, order, value):
    builder = BinaryPayloadBuilder(byteorder=BYTES[order], wordorder=WORDS[order])
    add = {
        "int16": lambda: builder.add_16bit_int(int(value)),
        "uint16": lambda: builder.add_16bit_uint(int(value)),
        "int32": lambda: builder.add_32bit_int(int(value)),
        "uint32": lambda: builder.add_32bit_uint(int(value)),
        "int64": lambda: builder.add_64bit_int(int(value)),
        "uint64": lambda: builder.add_64bit_uint(int(value)),
        "float32": lambda: builder.add_32bit_float(float(value)),
        "float64": lambda: builder.add_64bit_float(float(value)),
        "bcd16": lambda: builder.add_16bit_uint(int(value, 16)),
        "bcd32": lambda: builder.add_32bit_uint(int(value, 16)),
        "string": lambda: builder.add_string(value),
    }
    add[kind]()
    return builder.to_registers()


def load(path):
    units = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            unit, table, address, kind, order, value = line.split()
            tables = units.setdefault(int(unit), {name: {} for name in TABLES.values()})
            words = [int(value)] if kind == "bool" else registers(kind, order, value)
            for i, word in enumerate(words):
                tables[TABLES[table]][int(address) + i] = word
    slaves = {}
    for unit, tables in units.items():
        blocks = {name: ModbusSparseDataBlock(words or {65535: 0}) for name, words in tables.items()}
        slaves[unit] = ModbusSlaveContext(zero_mode=True, **blocks)
    return ModbusServerContext(slaves=slaves, single=False)


def main():
    context = load(sys.argv[1])
    kind, place = sys.argv[2], sys.argv[3]
    framer = FRAMERS[kind.split("+")[0]]
    if kind.endswith("tcp"):
        StartTcpServer(context=context, framer=framer, address=("127.0.0.1", int(place)))
    elif kind == "tls":
        certificate, key = sys.argv[4:6]
        StartTlsServer(context=context, framer=framer, address=("127.0.0.1", int(place)), certfile=certificate, keyfile=key)
    else:
        StartSerialServer(context=context, framer=framer, port=place, baudrate=int(sys.argv[4]), parity="N", timeout=1)


main()

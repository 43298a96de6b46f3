// A Modbus slave made with one of npm's libraries, as a stranger to test against.
//
// usage: node slave.js MODULES LIBRARY VALUES tcp PORT | rtu+tcp PORT | rtu DEVICE BAUD
//
// LIBRARY is modbus-serial or jsmodbus, found in the folder MODULES. VALUES has one value per line: unit, table,
// address, type, order, value. Addresses that no line names do not exist, if the library can say so.
'use strict'
const fs = require('fs')
const net = require('net')
const [modules, library, values, transport, place, baud] = process.argv.slice(2)
const from = (name) => require(require.resolve(name, { paths: [modules] }))

const write = {
  int16: (b, v) => b.writeInt16BE(Number(v)),
  uint16: (b, v) => b.writeUInt16BE(Number(v)),
  bcd16: (b, v) => b.writeUInt16BE(parseInt(v, 16)),
  int32: (b, v) => b.writeInt32BE(Number(v)),
  uint32: (b, v) => b.writeUInt32BE(Number(v)),
  bcd32: (b, v) => b.writeUInt32BE(parseInt(v, 16)),
  float32: (b, v) => b.writeFloatBE(Number(v)),
  int64: (b, v) => b.writeBigInt64BE(BigInt(v)),
  uint64: (b, v) => b.writeBigUInt64BE(BigInt(v)),
  float64: (b, v) => b.writeDoubleBE(Number(v))
}

// words are the registers of a value, in the order that is asked for.
function words (kind, order, value) {
  if (kind === 'bool') return [Number(value)]
  let b = Buffer.from(value)
  if (kind !== 'string') {
    b = Buffer.alloc(parseInt(kind.replace(/\D/g, '')) / 8)
    write[kind](b, value)
  }
  const bytesSwapped = order === 'BADC' || order === 'DCBA'
  const wordsSwapped = order === 'CDAB' || order === 'DCBA'
  const all = []
  for (let i = 0; i < b.length; i += 2) all.push(bytesSwapped ? b.readUInt16LE(i) : b.readUInt16BE(i))
  return wordsSwapped ? all.reverse() : all
}

// In the table enron each address is one value of 32 bits.
const tables = { holding: new Map(), input: new Map(), coil: new Map(), discrete: new Map(), enron: new Map() }
for (const line of fs.readFileSync(values, 'utf8').trim().split('\n')) {
  const [, table, address, kind, order, value] = line.split(' ')
  const all = words(kind, order, value)
  if (table === 'enron') {
    tables.enron.set(Number(address), all[0] * 0x10000 + all[1])
    continue
  }
  all.forEach((word, i) => tables[table].set(Number(address) + i, word))
}

function modbusSerial () {
  const { ServerTCP, ServerSerial } = from('modbus-serial')
  const get = (table, yes) => (address) => {
    if (!tables[table].has(address)) {
      const refusal = new Error('no such address')
      refusal.modbusErrorCode = 2
      throw refusal
    }
    return yes(tables[table].get(address))
  }
  const number = (word) => word
  const enron = tables.enron.size > 0
  const short = { shortRange: [3001, 3999] }
  const vector = {
    getHoldingRegister: (address) => get(enron && (address < 3001 || address > 3999) ? 'enron' : 'holding', number)(address),
    getInputRegister: get('input', number),
    getCoil: get('coil', Boolean),
    getDiscreteInput: get('discrete', Boolean)
  }
  if (transport === 'rtu') return new ServerSerial(vector, { path: place, baudRate: Number(baud), unitID: 7, interval: 5, enron, enronTables: short })
  return new ServerTCP(vector, { host: '127.0.0.1', port: Number(place), unitID: 7, enron, enronTables: short })
}

function jsmodbus () {
  const { server } = from('jsmodbus')
  const registers = (table) => {
    const b = Buffer.alloc(2 * 4096)
    tables[table].forEach((word, address) => b.writeUInt16BE(word, 2 * address))
    return b
  }
  const bits = (table) => {
    const b = Buffer.alloc(64)
    tables[table].forEach((word, address) => { b[address >> 3] |= word << (address & 7) })
    return b
  }
  const banks = { holding: registers('holding'), input: registers('input'), coils: bits('coil'), discrete: bits('discrete') }
  if (transport === 'rtu') {
    const { SerialPort } = from('serialport')
    return new server.RTU(new SerialPort({ path: place, baudRate: Number(baud) }), banks)
  }
  const listener = net.createServer()
  if (transport === 'tcp') {
    new server.TCP(listener, banks) // eslint-disable-line no-new
  } else {
    listener.on('connection', (socket) => new server.RTU(socket, banks))
  }
  return listener.listen(Number(place), '127.0.0.1')
}

const make = { 'modbus-serial': modbusSerial, jsmodbus }
make[library]()

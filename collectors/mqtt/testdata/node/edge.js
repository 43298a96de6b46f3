// A Sparkplug B edge node made with npm's libraries, as a stranger to test against. It does what it is told.
//
// usage: node edge.js MODULES URL NODETOPIC
//
// Standard input has one thing to do per line, as JSON: {"will": PAYLOAD, "topic": T} connects with that last will,
// {"topic": T, "payload": PAYLOAD, "qos": 0} publishes, {"die": true} breaks the connection without a word.
// Standard output has one line for each thing that was done, and for each message on NODETOPIC.
'use strict'
const readline = require('readline')
const [modules, url, nodeTopic] = process.argv.slice(2)
const from = (name) => require(require.resolve(name, { paths: [modules] }))
const mqtt = from('mqtt')
const sparkplug = from('sparkplug-payload').get('spBv1.0')
const Long = require(require.resolve('long', { paths: [require.resolve('sparkplug-payload', { paths: [modules] })] }))

const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')
let client

// encode makes bytes; a number that JavaScript cannot hold comes as {"long": "DIGITS"}.
function encode (payload) {
  for (const m of payload.metrics || []) {
    if (m.value && m.value.long) m.value = Long.fromString(m.value.long, m.type.startsWith('U'))
    if (m.value && m.value.bytes) m.value = Buffer.from(m.value.bytes)
  }
  return Buffer.from(sparkplug.encodePayload(payload))
}

function connect (order) {
  client = mqtt.connect(url, {
    clientId: 'edge', clean: true, reconnectPeriod: 0,
    will: { topic: order.topic, payload: encode(order.will), qos: 1, retain: false }
  })
  client.on('error', (e) => { say({ error: e.message }) })
  client.on('message', (topic, bytes) => {
    const metrics = sparkplug.decodePayload(bytes).metrics.map((m) => ({ name: m.name, type: m.type, value: m.value }))
    say({ heard: topic, metrics })
  })
  client.on('connect', () => client.subscribe(nodeTopic, () => say({ done: 'connected' })))
}

function act (order) {
  if (order.will) return connect(order)
  if (order.die) {
    client.on('close', () => say({ done: 'died' }))
    return client.stream.destroy()
  }
  client.publish(order.topic, encode(order.payload), { qos: order.qos || 0 }, () => say({ done: order.topic }))
}

readline.createInterface({ input: process.stdin }).on('line', (line) => act(JSON.parse(line))).on('close', () => process.exit(0))

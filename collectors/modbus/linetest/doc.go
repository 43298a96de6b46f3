// Package linetest is for the tests of the Modbus rooms: slaves behind every kind of URL (slaves.go, certificates.go, ptys_linux.go), and
// a witness, a device with its wire in memory that works on bytes, from the standards' text alone (witness.go), with every
// way in which its answers go wrong (spoilings.go).
package linetest

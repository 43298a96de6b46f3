// Package modbus reads the registers of Modbus units over TCP, TLS, and serial lines at a port of this box or behind a
// socket, in RTU or ASCII frames.
//
// A Line is one socket or serial port: it has one owner at a time and one request on the wire, whatever number of
// devices name it. A serial answer carries neither an address nor a number of its request, so an answer that
// comes too late is indistinguishable from the one that is waited for; the transports therefore empty the line
// before they ask, listen after an answer, and never accept the first answer of a unit that still owes one.
//
// Requests and answers are coded by goburrow's client; sockets, serial ports and frames are our own.
package modbus

// Package share lets other masters read the devices of this box over Modbus TCP, each under its own unit id: from the last
// answers of the units (cache.go), to a few connections at a time, of which one address has half (server.go). Nothing is asked for on a master's behalf,
// and nothing can be written. An answer that is too old is no answer: the master is told that the unit is silent.
package share

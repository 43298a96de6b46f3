// Package sparkplug reads what Sparkplug B edge nodes publish over MQTT, and remembers what each node's births have
// defined. It is pure: messages and times come in, and no connection, point or reading is known here.
//
// Order of files: protobuf.go finds the fields of a message, payload.go makes metrics and values of them and quality.go
// judges theirs; topic.go takes topics apart; node.go is the life of a node, from its birth to its death, and rebirth.go
// the command that asks for a birth.
//
// An alias lives for one connection. A birth missed between two connections may have given it to another metric, so nothing
// is remembered and each connection asks for births; after a lost message values by alias are uncertain until the next birth.
package sparkplug

// Package control is what people and programs can ask of a site and do to it: status, tickets, tanks, keys, the outbox.
package control

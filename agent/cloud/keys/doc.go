// Package keys keeps the two subscription keys of a site alive: every value that either may have at the moment, which of them a
// request carries, their renewal, and the file that outlives a restart. It reaches the service through Service alone.
//
// The ring (ring.go) takes keys that people and the service give; order.go says which a call tries, due.go and renew.go when and
// how each is renewed; ending.go warns of a key's end, note.go tells of the rest, status.go shows everything to people; file.go
// is the key file. Secret never prints its value.
package keys

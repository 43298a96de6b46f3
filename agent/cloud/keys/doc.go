// Package keys keeps the two subscription keys of a site alive: every value that either may have at the moment, which of them a
// request carries, their renewal, and the file that outlives a restart. It reaches the service through Service alone.
//
// The ring (ring.go) takes keys that people and the service give, each into its slot (slot.go); order.go says which a call
// tries, due.go when each is renewed and renew.go how; ending.go tells of a key's end and of the rest; file.go is the key
// file.
//
// # Decisions
//
// A renewal in doubt is ended by attempts (thirty unanswered, some five days), never by time: an absent link and a clock that is
// set prove nothing. What was written under another clock tells no age; data stored with the newest value takes its place.
//
// A lost answer may cost the key that it renewed. So a slot is renewed with the other slot's key; when that turns out to be
// refused, it is renewed first. A refusal may be a gateway's mistake: no key renews itself unless the service has said that it
// does not renew the other one, not even while a candidate of that one is too young to count as refused. After a lost answer the
// key in its header no longer counts as refused, and a refused key waits for the other's that is in doubt. Before a renewal is
// sent, both generations of the key file say so: one that is damaged does not hide it.
//
// A call tries every key that the service ever accepted before one that it never did. So that a candidate does not wait for ever
// behind keys that work, each call puts one on trial first, once those have stored data. What was accepted is forgotten only when
// a newer value stored data; of what never was, a slot keeps sixteen values, and the newest that the service itself gave.
package keys

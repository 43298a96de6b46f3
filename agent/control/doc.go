// Package control is what people and programs can ask of a site and do to it: status, tickets, tanks, keys, the outbox, recordings.
//
// server.go: the table of requests. records.go: those about the outbox, and messages that are decoded again. roles.go: who may ask, and who has. tickets.go: tickets,
// tanks and all that a page shows; ticket_row.go: where a ticket stands; book.go: what the tank book says in words.
// service.go: keys, login and queries. status.go, answers.go (the four lines that a person
// reads first), problems.go, unused_levels.go (levels that no event explains), dead_letters.go, waiting.go (why a record waits), says.go (what it tells), report.go (the contract of /api/v1), proof.go and proof_events.go (where every record is), no_outbox.go (a store that cannot be opened).
//
// # Decisions
//
// One table of requests answers the commands. Beside a daemon they reach it over the socket; without one they open the store and
// ask a server of their own, so that either way the same request does the same thing. What goes on for a while is a live stream:
// one JSON thing a line over the socket until it is over, so that a scan tells its progress and a trace shows its frames.
//
// Each request of the table says the role that it needs. What needs more than to look leaves an entry in the audit trail before it
// is answered, and so does who is denied, as far as that cannot fill the disk. Groups are asked for at each request: who is put
// out of one is out at once.
//
// Why a record waits is what its drain last said it was at; the sentence is made here. Whether a site is sending is judged by what
// the link's plan does not hold back.
//
// The proof counts records, not counters: one read transaction compares the counts with queue and dead letters. Numbers have no holes,
// so what lies between two known records and is nowhere gave way, or its receipt did. An event is the same at the service when
// object, rule and start to the second are.
package control

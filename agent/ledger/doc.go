// Package ledger turns readings into records: tickets, events and values of the wells. It is the one place where a tank's state, a
// ticket's number and the ticket become one transaction; a new state is seen by anybody but the next judgement only after the outbox has
// it on disk.
//
// The order of its files: site.go (what the configuration says, and to what each point leads), ledger.go (the ledger and its
// state), pack.go (what is kept beside the streams, and by what a delivered record is found again), txn.go (one batch's unit of work: where a reading goes, and what is staged),
// commit.go (how that comes to the disk, and who may see it when), host.go (what a collector sees of it, and how the ledger of a changed configuration goes on for those that go on), latest.go (the last reading of each point) and
// figures.go (its number in inches, Fahrenheit and gravity). What a transaction does stands by its noun: tank_book.go, values.go, events.go (gauger's own, by the
// names of eventrules, and the journal of what made no ticket) and alarms.go (a site's rules), clock_deferred.go (what waits for the clock), unused.go, refusals.go, evictions.go, recording.go. Tickets: tickets_held.go owns those that wait, tickets_release.go leads from the load to the ticket,
// tickets.go queues and lists; what people change: tickets_hold.go, tickets_edit.go, tickets_match.go; what speaks against what they
// write: ticket_doubts.go; a ticket's parts in ticket_record.go, ticket_comments.go, ticket_volumes.go, ticket_number.go. Tanks: tank_status.go, tanks_inhibit.go, explain.go (why there was no
// ticket). How a tank is measured: setup.go is one tank's; setup_apply.go
// owns those of all and lets a change take effect, by setup_changeover.go. Between two stores tanks go by handover.go.
//
// # Decisions
//
// The lock is held to judge and to stage, not while the disk writes: readings of devices that come at once share a commit. Judging, staging and
// what is shown afterwards (the newest readings, the recorder's rows, log lines) have one order. A commit that fails takes the state back to before it,
// and with it all that was staged on top, which the outbox refuses too. Whoever looks is answered when what he saw is on disk.
//
// The tanks' mark says when storing is due, so that a week of quiet levels does not wear the flash. The stored state is all
// that the detector knows of the levels, so that a restart decides the same, and a recording's place is stored
// with what its rows did. A run's first input is the clock, and uptime and boot id tell how long it was away. From 8 KiB the
// tanks' state and the open book are deflated (pack.go): twenty quiet tanks cost less than 5 MB of flash writes a day, one less than 2.
//
// What cannot be written down (a figure that is not finite, an id that is too long) is left out by itself
// and told, record-unwritable: it fails no batch and no tick.
//
// Hold and clock are one waiting room: a finished load waits until its hold is over, a person has looked (review: hold) and the
// clock can be believed; only then does it have a number and become a record. The number is made of the start that was first
// stored, not of the refined one, so that a kill in the middle of a load cannot change it; if the clock was set since, of the
// final one. A held ticket without a number goes by a handle.
//
// A ticket keeps what it was made of: volumes at 60 degF, production day, the level's trend. Tables, constants and buffers change;
// a ticket does not. Edits are a list, not a patched load: they go over the wire ticket, the last one holds, all are kept with
// person and time. A correction names its load by the start under which it was first stored: a held ticket is changed; of a sent
// one an event tells, once. A clock that was set is told of when it has held for twelve hours, and taken back when it is set back.
//
// Who began it decides about work on a tank. A load that began before `tanks inhibit` is the truck's: ticketed, and marked. One that
// began during it makes no ticket, is kept with its evidence, and is told by the one event. One that nobody saw is the work's only where
// the whole silence was work; else it is ticketed, and marked where a part of that was. A verdict is for people, an event
// for the service: every fall that makes no ticket leaves one small key in the journal, so that "why is there no ticket" is
// answered from what was decided, not computed again.
//
// How a tank is measured is one setup, stored with the tanks: where the number is read and how its bits become one, scale, unit,
// height, offset; and the table. Two levels are compared only by one setting. A change takes effect with the first levels by the
// new one, never within a load: they tell whether the number stayed and what is made of it was put right (what is stored is
// converted), whether the gauge was changed (it is left), or neither. Where another gauge is read nothing compares, no ticket is
// made of the difference, and an event names it. A load is finished by the gauge with which it began while that is still read;
// where it is not, the new levels are told by the old setting and the load needs a review, as long as that can be true. Whoever
// changes point, register, unit, scale, height or offset says that the old one was wrong: a load under way then, and a held
// ticket, needs a review. State follows a tank's id, not its place. The last eight changes are kept, so that a level of the past
// is told as the tickets of that time say it. What an older program did not store is taken for what is configured.
//
// Values are sent when due, and when a whole number changed (at most once a minute between). `every` is a grid: the first good
// reading of each interval counts, one that comes a moment before the next interval is that one's, and a late one moves nothing.
// With `every: 0s` each good reading is a record, and a redelivery with the same device time and value is known by its
// fingerprint: the last 2,400 are remembered in pages of 128, of which a commit rewrites one.
// Values of polls linger (Site.Linger): their records, and what was last sent, are stored together, with whatever is stored first or by
// Flush, unless the outbox can send them first: a card of a site with twenty values every ten seconds lives four times as long.
// A few of them that come fast linger until ten seconds after those before (untilFlush).
// What lingers is a part of the state: a commit that fails leaves it, and a kill costs it, as if it had not been polled.
//
// An alarm judges readings by their own times: between two of them it has its turn by their clock, so that a backlog makes the
// events that it would have made live. One reading opens it; a tank's level and `bad` want a second or 30 s, since a false echo
// and a lost poll are ordinary. It ends with the first reading back, which is told after three or 30 s.
package ledger

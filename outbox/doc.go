// Package outbox keeps records on disk until a service has taken them.
//
// Four nouns: a Box is one file; a stream is one queue in it; a Record is one element of a queue, its body frozen as
// the bytes that the service gets; a Tx stages records and small state, so that both are on disk together or not at all.
//
// What Update has returned nil for has survived a power cut, as far as the flash obeys its flush. Every record ends in
// exactly one place, and the counts of the places always add up to what was accepted.
//
// Beside the file stand its lock, the receipts (.receipts: what was delivered or dropped, and when), the high-water marks
// (.high: how far the streams were, should the disk forget), for a moment the file that takes its place (.new), and after
// damage the files that were set aside (.damaged-N). Without receipts or marks the box works on, and knows less after damage.
//
// Caveats. One process at a time: the lock sees to it. A function given to Update runs under the box's lock: it stages
// and returns, and calls nothing of the box but its Tx. A record whose checksum does not hold is never sent; it becomes
// a dead letter. On a full disk an Update fails with ErrNoSpace and the box works on; after ErrDead the process must end
// and start again, and opening repairs the file. A record of a Journal stream can reach the service twice only when an
// answer was lost. A disk that lies about flushes can lose records: what the marks knew of is counted as Lost.
//
// The files, in the order in which they stand on each other: this one, outbox (the words); codec, layout (what stands in the
// file); attempts, isolation; dbfile, replace (the file that is open); stream, sharedprobe, group, box (what is staged);
// highwater, load, commit, leave, deadletter, evict, tx (storing); poison, breaker, nextbatch, ahead, offer, apply, drain (sending,
// one circle); entries, status, operator (people); check, salvage, stalecopies, loss, rollback, open (starting). Below
// the room, boltfile reads pages, receipts keeps receipts, and disk does what os does not; preflight stands above it.
//
// # Decisions
//
// Commits. A commit is a group: whoever waits for it first leads, and commits for all who staged while the one before ran; there
// is no timer. What fails or panics is taken out of the group. After a commit the leader yields a moment, so that its
// followers get into the next one. While at most 4 MiB are in use the list of free pages stays out of the file, a page less
// in each commit; opening such a file reads all its pages, so boltfile walks them before bbolt does.
//
// The file grows ahead of its pages, with written blocks: a reserved block costs the file system's journal when it is first
// used. A file that holds little is replaced by a fresh one; until the rename nobody looks at that, so it is synced once.
//
// A drain is one batch ahead of the file: while the deletion of a batch waits and commits, the next one is sent. A deletion waits no
// longer for the next than a deletion takes, so that two leave in one commit where the service is faster than the disk. A power cut
// can then have two batches sent twice instead of one; a kill still only the one whose answer was awaited, since receipts are
// written before. Streams with a journal, and those of single records, go one after the other.
//
// Where a stream lingers (Stream.Linger) its records wait for more before they are sent, and leave until the queue is empty; what was
// taken is deleted with the next commit that anybody makes, in half a minute at the latest, so that it costs no commit of its own.
// Of no more records than one request has the deletion waits so: a power cut can have them sent again, a kill cannot.
//
// Of a stream with Most a request may have twice as many records behind a full one that was taken as a whole within a second, and
// Stream.Batch again behind any other answer or a slower one; what had no clear answer goes again as it was, and where
// it had grown and has none a second time, in requests of Batch. One that was so, or was too large, halves Most until the next start,
// and no more: the limit that is kept over restarts is for requests of Batch. So what
// comes twice is counted in requests as before, and a request is of Most records and MaxRequest bytes at most. It is for values, of
// which a copy does no harm; tickets, memos and events have no Most.
//
// Records of a stream that lingers can be offered (Box.Offer) instead of stored, when its drain has nothing else to do: what the service
// takes within five seconds is counted and never written, all else is stored then and judged by the answer that it had. Counts and
// receipts of what was taken so go with the next commit, in five minutes at the latest, the receipts behind it. Until then a kill, or a
// disk that forgets, costs them: the service has records that no count knows, their numbers are given again, and none comes twice. What
// was offered is in no layout of its own: a program of before goes on with such a file.
//
// A full disk is decided by looking. A commit that ends for want of room may be in the file or not: the file is closed,
// examined, opened again, and the generation of its last group tells. Then Update returns nil or ErrNoSpace, and what was
// staged on top of a refused group is refused with it. Deleting and sending go on; opening writes nothing, so that a full disk
// never keeps the box shut. EIO, and a file that is not at its path any more, are the end of the process.
//
// High-water marks say how far each stream was: a disk that confirms what it then forgets cannot be prevented, only noticed. A box
// behind its marks or receipts takes over counts and numbers, counts what is lost, and makes dead letters of what had left the
// queue and waits again: sending could double it. Where the counts are gone, and the marks
// too, the loss is unknown (Counts.LostUnknown) for as long as the store lives. In a damaged file receipts decide about old
// copies, and each generation sums up all state, so that a lost or stale piece is noticed.
//
// What is not written cannot tell. Marks are written with each commit of a stream with a journal, of the others with every tenth, and
// synced once in ten seconds. So of up to nine commits of values and events that a disk forgets only the receipts know, and of what
// was not delivered by then nobody: it is lost without a word, and its numbers are given again. After a kill nothing is missing, and
// closing brings the marks up to date. Receipts without a journal are synced once in ten seconds too: a cut can take the last of
// them, and what they showed as delivered may then be in doubt. All these files are synced by fdatasync: only times are lost by it.
// Room for receipts is written 256 at a time, since a file that grows costs the file system's journal at each sync. Records have a
// bucket of their own below the root and not their keys in it: that would save a page of a commit to a queue of up to seven records
// of 300 bytes, and cost one from the eighth on, when the root outgrows its page.
//
// Shares. Each stream that gives way has a share, dead letters included; tickets and memos have none and never give way.
// Shares may add up to more than all: then the thinned streams go first, and the oldest of the others last.
//
// A refusal is evidence, not a verdict. A refused batch is taken apart first; a record refused alone, for its size too, becomes
// a dead letter when something beside or behind it was accepted, or what stood beside it in the record (Answer.Proved). More than ten
// refused in a row open the breaker instead. The
// evidence lives in memory: a restart gathers it again and cannot judge wrongly. While nothing is accepted, the next record,
// the newest and a candidate are tried in turn, so that good ones never wait behind hundreds of bad ones. Of what is not taken
// for another reason (404, 403, 500) the address is to blame, or the record where it has none: each attempt is for another
// address, and one that is refused again after others were taken is isolated, from a minute to an hour. A batch without
// addresses is divided to find the record. In an outage that costs a few requests at its beginning.
//
// Waits grow by half, up to eight minutes. All streams of a box see the same service: once waits are long one of them
// probes for all, in turn, and whoever gets through wakes the others. The whole backlog leaves when the first attempt
// succeeds, and ten thousand sites make no more requests in an outage than ten thousand streams would. After an attempt without
// a clear answer a Journal stream waits longer, threefold each time: each may have stored the record, the fifth in a row parks it
// for a person or a day, and a proxy that restarts must not use them up. No record needs the one before it: behind the second the others go by.
// Where they are taken the third parks it. Where the first of them has no clear answer either it is the way, and only one record is put at
// risk of coming more than twice; others follow one by one only while another stream is taken. After its day a parked one goes once.
package outbox

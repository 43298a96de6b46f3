// Package receipts keeps what became of the records that left a queue: which were delivered or dropped, when, and with which
// answer. It knows no queue and sends nothing; whoever deletes a record writes its receipt first.
//
// Receipts give way as records do: one bounded file of segments, each of one stream. A full stream takes an expired segment,
// then new room, then the oldest of whoever gives way first (Options.Yields). A receipt that was added durably is on disk
// before Add returns. A slot that is torn is lost alone: its checksum does not hold.
//
// In order: receipt.go (one receipt in 256 bytes), file.go (the file and its segments).
package receipts

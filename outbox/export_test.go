package outbox

// SyncMarks lets the high-water marks be synced after every commit, as they are at a site whose commits are further
// apart than highEvery.
func SyncMarks() { highEvery = 0 }

// HighWater tells how many records of a stream a high-water file counts as accepted; 0: it is not sound.
func HighWater(path, stream string) (accepted uint64, err error) {
	h, err := openHigh(path)
	if err != nil {
		return 0, err
	}
	var l ledger
	if r, ok := h.Streams[stream]; ok {
		err = l.decode(r.Counts)
	}
	if closing := h.close(); err == nil {
		err = closing
	}
	return l.Accepted, err
}

package main

import "fmt"

// store is a durable queue, as the workloads use it.
type store interface {
	// put returns when all bodies are on disk, together. It may be called from any goroutine.
	put(bodies [][]byte) error
	// drain takes n records in batches of at most batch, oldest first: each is given to sent and then removed, durably.
	// It waits for records that are not there yet, while puts go on. One call at a time.
	drain(n, batch int, sent func(bodies [][]byte)) error
	close() error
}

// contenders are compared, raw first: the others are told as multiples of it.
var contenders = []struct {
	name string
	open func(dir string) (store, error)
}{
	{"raw", openRaw},
	{"gauger", openBox},
	{"bare bbolt", openBare},
	{"tidwall/wal", openWAL},
	{"SQLite", openSQLite},
	{"OTel", openOTel},
}

func openStore(name, dir string) (store, error) {
	for _, c := range contenders {
		if c.name == name {
			return c.open(dir)
		}
	}
	return nil, fmt.Errorf("no contender %q", name)
}

package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gauger/collectors"
)

// agent is a host that keeps everything it is given, and the position as the real one does.
type agent struct {
	mu      sync.Mutex
	batches [][]collectors.Reading
	refused []refusal
	notices []collectors.Notice
	memory  map[string][]byte
	emit    func(batch []collectors.Reading) error // asked before a batch is taken
	recall  error
}

type refusal struct {
	source, raw, why string
}

func (a *agent) Emit(_ context.Context, batch []collectors.Reading) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.emit != nil {
		if err := a.emit(batch); err != nil {
			return err
		}
	}
	a.batches = append(a.batches, batch)
	last := batch[len(batch)-1]
	if a.memory == nil {
		a.memory = map[string][]byte{}
	}
	a.memory[collectors.ReplayPosition] = fmt.Appendf(nil, "%d %d", last.Boot, last.Mono.Nanoseconds())
	return nil
}

func (a *agent) Keeps(collectors.Refusal) bool { return true }

func (a *agent) Refuse(_ context.Context, batch []collectors.Refusal) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range batch {
		a.refused = append(a.refused, refusal{r.Source, string(r.Raw), r.Err.Error()})
	}
	return nil
}

func (a *agent) Notice(_ context.Context, n collectors.Notice) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notices = append(a.notices, n)
	return nil
}

func (a *agent) Recall(name string) ([]byte, error) { return a.memory[name], a.recall }

func (a *agent) Hurry([]collectors.Point) bool { return false }

func (a *agent) Remember(name string, v []byte) error {
	a.memory[name] = v
	return nil
}

// recording makes a collector of two points over a file with these contents.
func recording(t testing.TB, contents string) *Recording {
	t.Helper()
	file := filepath.Join(t.TempDir(), "readings.csv")
	if err := os.WriteFile(file, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	return over(t, file)
}

func over(t testing.TB, file string) *Recording {
	t.Helper()
	c, err := New(Device{Name: "rec", File: file, Points: []Point{{Name: "t1-level", Unit: "in"}, {Name: "t1-temperature", Unit: "degF"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Recording)
}

package outbox_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gauger/deploy/proof"
	"gauger/outbox"
)

// syncedBox names the box to which a child of this test binary appends, from one goroutine and then from eight.
const syncedBox = "OUTBOX_TEST_SYNCED_BOX"

// synced appends n records alone and n in groups, and says of each when its Update was called and when it returned.
func synced(order string) error {
	var path string
	var n int
	if _, err := fmt.Sscan(order, &path, &n); err != nil {
		return err
	}
	b, err := outbox.Open(path, outbox.Options{Streams: site(), MaxBytes: 8 << 20})
	if err != nil {
		return err
	}
	put := func(name string) {
		err := b.Update(func(tx *outbox.Tx) error {
			tx.Append("tickets", outbox.Record{Body: []byte(name)})
			return nil
		})
		if err != nil {
			name = "not " + name
		}
		fmt.Println("returned", name)
	}
	for i := range n {
		put(fmt.Sprintf("<alone %d>", i))
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range n / 8 {
				put(fmt.Sprintf("<group %d %d>", w, i))
			}
		})
	}
	wg.Wait()
	return b.Close()
}

// The words of the lines of strace -f -y that count.
var (
	straceLine  = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)`)
	straceFile  = regexp.MustCompile(`\(\d+<([^>]*)>`)
	straceDone  = regexp.MustCompile(`\) += (-?\d+)`)
	straceMeta  = regexp.MustCompile(`, (0|4096)(\)| <unfinished)`)
	updateNames = regexp.MustCompile(`<(?:alone|group)[ \d]+>`)
)

// Strace shows that before every Update returns the pages with its record were written, then a sync was begun and
// finished, then the page that makes them valid was written, and then a second sync was begun and finished.
func TestProveSync(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace here")
	}
	stretch := proof.Of(t, 40)
	dir := scratch(t)
	log := filepath.Join(dir, "strace.log")
	cmd := exec.Command(strace, "-f", "-y", "-s", "100000", "-o", log, "-e", "trace=pwrite64,write,fdatasync,fsync", "-e", "signal=none", os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", syncedBox, filepath.Join(dir, "outbox.db"), stretch.N))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("strace does not work here: %v: %s", err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	w := syncWatch{stage: map[string]int{}, calls: map[string]string{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		w.line(lines.Text())
	}
	for _, fault := range w.faults {
		t.Error(fault)
	}
	if w.returned != stretch.N+stretch.N/8*8 || lines.Err() != nil {
		t.Errorf("%d updates returned of %d alone and as many in groups of eight, %v", w.returned, stretch.N, lines.Err())
	}
	stretch.Tell(t, "%d of %d updates returned after a finished sync of what they wrote (%d alone, the others from eight goroutines), with %d syncs of the file",
		w.returned-len(w.faults), w.returned, stretch.N, w.syncs)
}

// How far a record is on its way to the disk.
const (
	pageWritten = 1 + iota
	pageSyncing
	pageSynced
	metaWritten
	metaSyncing
	metaSynced
)

// syncWatch follows every record through the lines of a trace.
type syncWatch struct {
	stage    map[string]int    // of each record that was seen
	calls    map[string]string // by thread: the call that is not finished
	returned int
	syncs    int
	faults   []string
}

func (w *syncWatch) line(text string) {
	m := straceLine.FindStringSubmatch(text)
	if m == nil {
		return
	}
	thread, call := m[1], m[2]
	resumed := strings.Contains(text, "resumed>")
	began := text
	if resumed {
		began = w.calls[thread]
	} else {
		w.calls[thread] = text
	}
	file := straceFile.FindStringSubmatch(began)
	switch {
	case file == nil:
	case call == "write" && !resumed && strings.Contains(text, `"returned `):
		w.update(text)
	case !strings.HasSuffix(file[1], "/outbox.db"):
	case call == "pwrite64" && straceDone.MatchString(text):
		w.wrote(began)
	case call == "fdatasync" || call == "fsync":
		if !resumed {
			w.advance(pageWritten, pageSyncing)
			w.advance(metaWritten, metaSyncing)
		}
		if d := straceDone.FindStringSubmatch(text); d != nil && d[1] == "0" {
			w.syncs++
			w.advance(pageSyncing, pageSynced)
			w.advance(metaSyncing, metaSynced)
		}
	}
}

// wrote takes a finished write: of the page that makes the others valid, or of pages with records.
func (w *syncWatch) wrote(began string) {
	if straceMeta.MatchString(began) {
		w.advance(pageSynced, metaWritten)
		return
	}
	for _, name := range updateNames.FindAllString(began, -1) {
		w.stage[name] = max(w.stage[name], pageWritten)
	}
}

func (w *syncWatch) advance(from, to int) {
	for name, stage := range w.stage {
		if stage == from {
			w.stage[name] = to
		}
	}
}

func (w *syncWatch) update(text string) {
	name := updateNames.FindString(text)
	w.returned++
	if w.stage[name] != metaSynced || strings.Contains(text, "not <") {
		w.faults = append(w.faults, fmt.Sprintf("the update %s returned at stage %d of %d", name, w.stage[name], metaSynced))
	}
}

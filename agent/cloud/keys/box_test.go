package keys

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// clockOfBox is the clock of a box: it can be set while it runs, and the monotonic clock does not notice.
type clockOfBox struct {
	mu    sync.Mutex
	ahead time.Duration // of the world's
}

func (c *clockOfBox) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	return monotonic(now.Add(c.ahead), now.Sub(began))
}

// began is the first instant of a synctest bubble.
var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// monotonic gives a time the reading of a monotonic clock, which times in a bubble have not. With it a time is a flag, the
// seconds since 1885 and the nanoseconds in one word, and that reading in the next.
func monotonic(wall time.Time, since time.Duration) time.Time {
	t := wall.Round(0)
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] = 1<<63 | uint64(wall.Sub(time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC))/time.Second)<<30 | uint64(wall.Nanosecond())
	words[1] = uint64(since) + 1
	return t
}

// set moves the clock so that it shows at.
func (c *clockOfBox) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = time.Until(at)
}

// TestAClockThatIsSet: the tool itself. A step shows on the wall clock and not on the monotonic one.
func TestAClockThatIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clockOfBox
		before := c.now()
		c.set(before.AddDate(-10, 0, 0))
		<-time.After(time.Minute)
		after := c.now()
		if after.Sub(before) != time.Minute || after.Year() != before.Year()-10 || after.Minute() != 1 {
			t.Errorf("%v after %v, which is %v", after, before, after.Sub(before))
		}
	})
}

var errPower = errors.New("the power is off")

// ramDisk is a disk in memory whose power goes off before a certain operation. A write that it hits is torn.
type ramDisk struct {
	mu    sync.Mutex
	files map[string][]byte
	left  int    // operations until the power goes off; -1: it stays
	off   func() // told then
}

func (d *ramDisk) power() bool {
	if d.left == 0 {
		d.off()
		return false
	}
	d.left = max(d.left-1, -1)
	return true
}

func (d *ramDisk) read(path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, there := d.files[path]
	if !there {
		return nil, fs.ErrNotExist
	}
	return b, nil
}

func (d *ramDisk) write(path string, b []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.power() {
		d.files[path] = slices.Clone(b[:len(b)/2])
		return errPower
	}
	d.files[path] = b
	return nil
}

func (d *ramDisk) rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.power() {
		return errPower
	}
	d.files[to] = d.files[from]
	delete(d.files, from)
	return nil
}

func (d *ramDisk) sync(string) error { return nil } // renames are on this disk at once; without one a cut leaves the file before

// suffer does to the newest file what happens to files.
func (d *ramDisk) suffer(rng *rand.Rand, mayBeLost bool) string {
	newest, there := d.files["keys"]
	switch what := rng.IntN(3); {
	case !there:
		return ""
	case what == 0:
		delete(d.files, "keys") // what is left is the generation before
		return "rolled back"
	case what == 1 && mayBeLost:
		clear(d.files)
		return "lost"
	}
	bent := slices.Clone(newest)
	bent[rng.IntN(len(bent))] ^= byte(1 << rng.IntN(8))
	d.files["keys"] = bent
	return "damaged"
}

package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/collectors"
	"gauger/config"
)

// keptADevice is the most that the program may keep of a device with a hundred points, in bytes of live heap: 11 KiB were seen, and
// twice as much while somebody held on to the configuration of each.
const keptADevice = 13 << 10

// largeSite has devices with the same hundred points, as a file writes them that says them once.
func largeSite(store string, devices int) string {
	var b strings.Builder
	fmt.Fprintf(&b, linkSite, "http://127.0.0.1:1", store, "{}")
	b.WriteString("devices:\n")
	for d := range devices {
		fmt.Fprintf(&b, "  - {name: d%d, modbus: \"tcp://127.0.0.1:%d\", points: ", d, 2+d)
		if d > 0 {
			b.WriteString("*points}\n")
			continue
		}
		b.WriteString("&points [")
		for p := range 100 {
			fmt.Fprintf(&b, "{name: p%d, holding: %d, unit: in}, ", p, p)
		}
		b.WriteString("]}\n")
	}
	b.WriteString("tanks:\n  - {id: TK-1, level: d0/p0, height: 20ft, diameter: 12ft, purchaser: Acme}\n")
	return b.String()
}

// liveHeap is what is alive, in bytes.
func liveHeap() uint64 {
	var m runtime.MemStats
	for range 3 { // what lies in pools goes after the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestADeviceIsKeptSmall: of what the file says of a device only what polling and showing it takes stays in memory.
func TestADeviceIsKeptSmall(t *testing.T) {
	t.Setenv("GAUGER_LINK_KEY", primaryKey)
	kept := func(devices int) uint64 {
		before := liveHeap()
		dir := t.TempDir()
		cfg, err := config.Parse("gauger.yaml", []byte(largeSite(filepath.Join(dir, "store"), devices)), dir)
		if err != nil {
			t.Fatal(err)
		}
		d, err := assemble(cfg, zerolog.Nop(), openOnce)
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		letGo(cfg)
		batch := make([]collectors.Reading, 100)
		for n := range devices {
			at := time.Now()
			for p := range batch {
				batch[p] = collectors.Reading{Point: collectors.PointOf(fmt.Sprintf("d%d", n), fmt.Sprintf("p%d", p)), Value: 1, Quality: collectors.Good, At: at}
			}
			if err := d.agent.Ledger.Host("modbus").Emit(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		after := liveHeap()
		runtime.KeepAlive(d)
		return after - before
	}
	few, many := kept(100), kept(300)
	if each := (many - few) / 200; each > keptADevice {
		t.Errorf("each further device takes %d bytes, want at most %d", each, keptADevice)
	} else {
		t.Logf("each further device takes %d bytes", each)
	}
}

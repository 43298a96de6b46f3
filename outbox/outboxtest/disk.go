package outboxtest

import "math/rand/v2"

// Disk is a recording of what a process wrote to one folder, from which the states of a disk after a power cut are made.
//
// The model is strict. What is written lies in the memory of the system until its file is synced, and reaches the disk
// by chance before that, sector by sector of 512 bytes, in no order. A file's length is one of those that it had since
// its last sync, or what the sectors that arrived need. Names, new and changed, are sure only after a sync of the
// folder; before that any number of them, in their order, has arrived (a file system with a journal). A sync makes the
// disk write down whatever it was sent before; a disk that lies forgets to, by chance, and says that it did.
type Disk struct {
	events []event
	files  int // so many there are
}

// event is one change. A kind has the fields that it needs.
type event struct {
	kind eventKind
	file int
	off  int64
	data []byte
	name string
	from string
}

type eventKind uint8

const (
	wrote eventKind = iota
	cutTo           // ftruncate
	synced
	named   // a name was given to a file
	renamed // from, to name
	unnamed
	folderSynced
	said
)

// Record adds a call that was made; Trace's after.
func (d *Disk) Record(c *Call) {
	if c.Name != "say" && c.Ret < 0 {
		return
	}
	e := event{file: c.File, name: c.Path}
	switch c.Name {
	case "say":
		e.kind, e.data = said, c.Data
	case "openat":
		if !c.New {
			return
		}
		e.kind = named
	case "linkat":
		e.kind, e.name = named, c.To
	case "renameat":
		e.kind, e.from, e.name = renamed, c.Path, c.To
	case "unlinkat":
		e.kind = unnamed
	case "fsync", "fdatasync":
		e.kind = synced
		if c.File < 0 {
			e.kind = folderSynced
		}
	case "pwrite64":
		e.kind, e.off, e.data = wrote, c.Off, c.Data[:c.Ret]
	case "ftruncate":
		e.kind, e.off = cutTo, c.Off
	default:
		return
	}
	d.files = max(d.files, e.file+1)
	d.events = append(d.events, e)
}

// Len counts the events, and so the instants for a cut.
func (d *Disk) Len() int { return len(d.events) }

// Said returns the lines that were said before an instant, in order, each with its own instant.
func (d *Disk) Said(before int, hear func(at int, line string)) {
	for at, e := range d.events[:before] {
		if e.kind == said {
			hear(at, string(e.data))
		}
	}
}

// Cut returns the files, by name, that a power cut after the first at events leaves. A lying disk ignores half of the
// syncs.
func (d *Disk) Cut(rng *rand.Rand, at int, lying bool) map[string][]byte {
	p := &platter{rng: rng, files: make([]inode, d.files), names: map[string]int{}, luck: []float64{0, 0.5, 1, rng.Float64()}[rng.IntN(4)]}
	for _, e := range d.events[:at] {
		p.play(e, lying)
	}
	p.cut()
	files := map[string][]byte{}
	for name, file := range p.names {
		files[name] = p.files[file].content
	}
	return files
}

// platter is a disk while a recording is played to it.
type platter struct {
	rng     *rand.Rand
	luck    float64 // share of what was not synced that arrives all the same
	files   []inode
	names   map[string]int
	waiting []event // changes of names that are not sure yet
	sent    int     // of them, the disk was told
}

// inode is one file: what is sure of it, and what is not.
type inode struct {
	content []byte
	waiting []event
	sent    int // of waiting, the disk was told
}

func (p *platter) play(e event, lying bool) {
	switch e.kind {
	case wrote, cutTo:
		f := &p.files[e.file]
		f.waiting = append(f.waiting, e)
	case named, renamed, unnamed:
		p.waiting = append(p.waiting, e)
	case synced:
		f := &p.files[e.file]
		f.sent = len(f.waiting)
	case folderSynced:
		p.sent = len(p.waiting)
	}
	if (e.kind == synced || e.kind == folderSynced) && !(lying && p.rng.IntN(2) == 0) {
		p.flush()
	}
}

// flush makes sure of whatever the disk was told.
func (p *platter) flush() {
	for i := range p.files {
		f := &p.files[i]
		for _, e := range f.waiting[:f.sent] {
			f.apply(e)
		}
		f.waiting, f.sent = f.waiting[f.sent:], 0
	}
	for _, e := range p.waiting[:p.sent] {
		p.rename(e)
	}
	p.waiting, p.sent = p.waiting[p.sent:], 0
}

func (f *inode) apply(e event) {
	if e.kind == cutTo {
		f.resize(e.off)
		return
	}
	if end := e.off + int64(len(e.data)); end > int64(len(f.content)) {
		f.resize(end)
	}
	copy(f.content[e.off:], e.data)
}

func (f *inode) resize(n int64) {
	if n <= int64(len(f.content)) {
		f.content = f.content[:n]
		return
	}
	f.content = append(f.content, make([]byte, n-int64(len(f.content)))...)
}

func (p *platter) rename(e event) {
	switch e.kind {
	case named:
		p.names[e.name] = e.file
	case renamed:
		p.names[e.name] = e.file
		delete(p.names, e.from)
	case unnamed:
		delete(p.names, e.name)
	}
}

const sector = 512

// cut lets chance decide about what is not sure.
func (p *platter) cut() {
	for i := range p.files {
		f := &p.files[i]
		lengths := p.rng.IntN(len(f.waiting) + 1)
		if p.luck == 0 {
			lengths = 0
		}
		for n, e := range f.waiting {
			if e.kind == cutTo {
				if n < lengths {
					f.apply(e)
				}
				continue
			}
			p.tear(f, e)
		}
	}
	for _, e := range p.waiting[:p.rng.IntN(len(p.waiting)+1)] {
		p.rename(e)
	}
}

// tear writes the sectors of a write that arrive.
func (p *platter) tear(f *inode, e event) {
	for from := 0; from < len(e.data); {
		to := min(len(e.data), from+sector-int((e.off+int64(from))%sector))
		if p.rng.Float64() < p.luck {
			f.apply(event{kind: wrote, off: e.off + int64(from), data: e.data[from:to]})
		}
		from = to
	}
}

// Package sim plays recorded levels as if they came from a device, and holds the tanks of a simulated well site.
//
// recording.go plays a Device: columns.go reads the header and row.go the rows. tank.go is the simulated site's tank.
//
// A recording is a collector: its rows carry the recorded box's boot count and monotonic clock, and when the boot count rises the
// ledger reloads its stored state, as after a kill. So backtest is the daemon's ledger with a recording for a host.
package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

const (
	header     = "ts,mono_s,boot,point,value,quality"
	lineLimit  = 64 << 10 // bytes; a longer line is refused
	kept       = 256      // bytes of an over-long line that are kept with its refusal
	arenaSize  = 1024     // readings that are allocated at once
	lookUp     = 4096     // lines between two looks at the context where nothing is handed over
	emitTries  = 8
	firstPause = 100 * time.Millisecond // before the second try of a batch; doubles, so that all tries take 13 s
)

// counts says what became of a recording's rows.
type counts struct {
	played  int // readings handed over
	batches int // calls of Emit that succeeded
	skipped int // rows of points that are not configured
	resumed int // rows that an earlier run had already handed over
	refused int // rows that could not be read
}

// Recording is a collector that plays a file of readings once, in the file's order, as fast as the host takes them.
type Recording struct {
	device Device
	points map[string]playedPoint
	counts counts // so far
}

type playedPoint struct {
	name collectors.Point
	unit collectors.Unit
}

// New makes the collector for a device; its options must pass Check, but for one thing: a point's name with a slash in
// it is taken as the whole name of a point, so that a device can play what was recorded of all devices of a site. A row
// may leave the device's name out where that leaves no doubt. The file is opened by Run.
func New(d Device) (collectors.Collector, error) {
	if problems := d.check(""); len(problems) > 0 {
		return nil, fmt.Errorf("recording %s: %s: %s", d.Name, problems[0].Path, problems[0].Message)
	}
	r := &Recording{device: d, points: make(map[string]playedPoint, len(d.Points))}
	bare := map[string]int{}
	for _, p := range d.Points {
		name := collectors.Point(p.Name)
		if !strings.Contains(p.Name, "/") {
			name = collectors.PointOf(d.Name, p.Name)
		}
		r.points[string(name)] = playedPoint{name: name, unit: collectors.Unit(p.Unit)}
		bare[pointName(name)]++
	}
	for _, k := range maps.Clone(r.points) {
		if short := pointName(k.name); bare[short] == 1 {
			r.points[short] = k
		}
	}
	return r, nil
}

// pointName is the name that a point has within its device.
func pointName(p collectors.Point) string {
	_, name, _ := strings.Cut(string(p), "/")
	return name
}

// Run plays the recording. It returns nil at the end of the file and when ctx ends, and an error when the file cannot
// be read, is no recording, or the host refuses a batch time after time.
func (r *Recording) Run(ctx context.Context, host collectors.Host) error {
	if r.device.From != nil {
		if err := r.play(ctx, host, r.device.From); ctx.Err() == nil {
			return err
		}
		return nil
	}
	collectors.PulseOf(ctx).Work()
	f, err := os.Open(r.device.File)
	collectors.PulseOf(ctx).Rest()
	if err != nil {
		return fmt.Errorf("open recording: %w; name a CSV file with the columns %s", err, header)
	}
	err = r.play(ctx, host, f)
	if closed := f.Close(); err == nil && closed != nil {
		err = fmt.Errorf("close recording: %w", closed)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *Recording) play(ctx context.Context, host collectors.Host, in io.Reader) error {
	from, err := recall(host)
	if err != nil {
		return err
	}
	p := &player{Recording: r, host: host, from: from, lines: lineCutter{in: bufio.NewReaderSize(in, lineLimit)}}
	p.rows.columns, p.rows.zone = usualColumns(), r.device.Zone
	for {
		line, err := p.lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.takeLine(ctx, line)
		}
		if p.lines.number%lookUp == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("recording %s: line %d: %w", r.device.File, p.lines.number, err)
		}
	}
	if err := p.flush(ctx); err != nil {
		return fmt.Errorf("recording %s: line %d: %w", r.device.File, p.lines.number, err)
	}
	return r.warnOfNoRows(ctx, host)
}

// warnOfNoRows tells a person why nothing happened: a file in which no row names a configured point is a mistake, not a quiet site.
func (r *Recording) warnOfNoRows(ctx context.Context, host collectors.Host) error {
	if r.counts.played+r.counts.resumed > 0 || r.counts.skipped == 0 && r.device.From != nil {
		return nil
	}
	now, note := time.Now(), fmt.Sprintf("%s holds no rows that can be read", r.device.File)
	if r.counts.skipped > 0 {
		note = fmt.Sprintf("none of the %d rows of %s names a configured point of %s", r.counts.skipped, r.device.File, r.device.Name)
	}
	err := host.Notice(ctx, collectors.Notice{
		Rule: eventrules.RecordingUnmatched, Source: r.device.Name, Since: now, Until: now,
		Note: note,
	})
	if err != nil {
		return fmt.Errorf("tell about recording %s: %w", r.device.File, err)
	}
	return nil
}

// player is one pass through a file.
type player struct {
	*Recording
	host  collectors.Host
	from  position
	lines lineCutter
	rows  rowReader
	batch []collectors.Reading // the rows of one poll that have been read so far
	stamp row                  // the instant of that poll
	arena []collectors.Reading
}

// takeLine adds one line to the batch, after handing over the batch before it when the line belongs to another instant.
func (p *player) takeLine(ctx context.Context, line []byte) error {
	if p.lines.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if is, err := p.readHeader(line); is || err != nil {
			return err
		}
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	row, err := p.rows.parse(line)
	if err != nil || p.lines.cut {
		return p.refuseLine(ctx, line, err)
	}
	if p.from.holds(row) {
		p.counts.resumed++
		return nil
	}
	point, ok := p.points[string(row.point)]
	if !ok {
		p.counts.skipped++
		return nil
	}
	if len(p.batch) > 0 && !row.sameInstant(p.stamp) {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	if len(p.batch) == 0 {
		p.stamp = row
	}
	p.add(row, point)
	return nil
}

// readHeader reads the first line where it is a header.
func (p *player) readHeader(line []byte) (is bool, err error) {
	c, is, err := parseHeader(line)
	if err != nil {
		return is, fmt.Errorf("not a recording: %w; the first line should be %s", err, header)
	}
	if is {
		p.rows.columns = c
	}
	return is, nil
}

// refuseLine keeps a line that cannot be read. A first line of that kind means that the file is something else.
func (p *player) refuseLine(ctx context.Context, line []byte, why error) error {
	if p.lines.cut {
		why = fmt.Errorf("longer than %d bytes", lineLimit)
	}
	if p.lines.number == 1 {
		return fmt.Errorf("not a recording: %w; the first line should be %s", why, header)
	}
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.counts.refused++
	source := fmt.Sprintf("%s line %d", p.device.Name, p.lines.number)
	row := collectors.Refusal{Source: source, Raw: bytes.Clone(line), Err: why, At: time.Now()}
	if !p.host.Keeps(row) {
		return nil
	}
	return p.retry(ctx, "keep a row that cannot be read", func() error { return p.host.Refuse(ctx, []collectors.Refusal{row}) })
}

// add puts a reading into the batch. Batches are cut from larger pieces, never used twice: a host may keep them.
func (p *player) add(r row, k playedPoint) {
	if len(p.arena) == cap(p.arena) {
		p.arena = append(make([]collectors.Reading, 0, max(arenaSize, 2*len(p.batch))), p.batch...)
		p.batch = p.arena
	}
	start := len(p.arena) - len(p.batch)
	p.arena = append(p.arena, collectors.Reading{
		Point: k.name, Value: r.value, Unit: k.unit, Quality: r.quality, Err: r.why,
		At: r.at, Boot: r.boot + 1, Mono: r.mono,
	})
	p.batch = p.arena[start:len(p.arena):len(p.arena)]
}

// flush hands the batch over.
func (p *player) flush(ctx context.Context) error {
	if len(p.batch) == 0 {
		return ctx.Err()
	}
	err := p.retry(ctx, "hand over a batch", func() error { return p.host.Emit(ctx, p.batch) })
	if err != nil {
		return err
	}
	p.counts.batches++
	p.counts.played += len(p.batch)
	p.batch = nil
	return ctx.Err()
}

// retry repeats what the host did not take: a recorded poll does not come again by itself, unlike a device's.
func (p *player) retry(ctx context.Context, what string, do func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		if try == emitTries || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// lineCutter cuts a stream into lines of bounded length.
type lineCutter struct {
	in     *bufio.Reader
	number int
	cut    bool // the line was longer than the limit; only its beginning was kept
}

// next returns the next line without its end; it is valid until the next call. At the end of the stream: io.EOF.
func (l *lineCutter) next() ([]byte, error) {
	l.cut = false
	l.number++
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.cut = true
		line = bytes.Clone(line[:kept])
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.in.ReadSlice('\n')
		}
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // the last line has no end
	}
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// Device plays a recording of readings (columns ts,mono_s,boot,point,value,quality) as if it were a device.
type Device struct {
	Name   string        `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	File   string        `yaml:"recording" doc:"CSV file of readings: ts,mono_s,boot,point,value,quality, in arrival order"`
	From   io.Reader     `yaml:"-"` // the recording where it is no file; File then only names it
	Every  time.Duration `yaml:"every" doc:"the poll interval with which it was recorded. Default 10s"`
	Points []Point       `yaml:"points" doc:"the recorded points"`

	// Zone places times that do not say theirs; nil: UTC.
	Zone *time.Location `yaml:"-"`
}

// Point is one column of values in the recording.
type Point struct {
	Name string `yaml:"name" doc:"name of the point within its device"`
	Unit string `yaml:"unit" doc:"engineering unit of the recorded values"`
}

// Check returns what is wrong with the options; nothing when they can be used.
func (d Device) Check() []collectors.Problem { return d.check("/") }

// check does so, and refuses point names that contain one of these characters, or a comma, quote or blank.
func (d Device) check(also string) []collectors.Problem {
	var found []collectors.Problem
	add := func(path, message string) { found = append(found, collectors.Problem{Path: path, Message: message}) }
	if d.Name == "" {
		add("name", "missing; the points of a recording are named NAME/POINT")
	}
	if d.File == "" {
		add("recording", "missing; name a CSV file with the columns "+header)
	}
	if d.Every < 0 {
		add("every", fmt.Sprintf("%s is negative; give the interval at which it was recorded, like 10s", d.Every))
	}
	if len(d.Points) == 0 {
		add("points", "missing; list the recorded points that shall be played, like {name: tk1-level, unit: in}")
	}
	seen := map[string]int{}
	for i, p := range d.Points {
		path := fmt.Sprintf("points[%d].name", i)
		first, twice := seen[p.Name]
		switch {
		case p.Name == "":
			add(path, "missing; give the part after the slash, like tk1-level")
		case strings.ContainsAny(p.Name, also+",\" \t\r\n"):
			add(path, fmt.Sprintf("%q has a slash, comma, quote or blank; use letters, digits, - and _", p.Name))
		case twice:
			add(path, fmt.Sprintf("%q is already points[%d]; each point needs a name of its own", p.Name, first))
		}
		seen[p.Name] = i
	}
	return found
}

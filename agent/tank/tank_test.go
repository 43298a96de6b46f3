package tank

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gauger/agent/tank/stats"
)

// The benchmark's recordings, replayed: GAUGER_TANKS names a folder that tankgen wrote;
// tickets.json and events.json are written beside it for tankscore.

type benchTank struct {
	Case       string       `json:"case"`
	ExternalID string       `json:"externalID"`
	DiameterFt float64      `json:"diameter_ft"`
	HeightFt   float64      `json:"height_ft"`
	Unit       string       `json:"level_unit"`
	Role       string       `json:"role"`
	Group      string       `json:"group"`
	Sensor     string       `json:"sensor"`
	PollSec    int          `json:"poll_s"`
	HasIface   bool         `json:"has_interface"`
	Strap      [][2]float64 `json:"strap"`
}

type benchLevel struct {
	Level float64 `json:"level"`
}

type benchTicket struct {
	TicketNumber string `json:"ticketNumber"`
	Tank         struct {
		ExternalID string `json:"externalID"`
	} `json:"tank"`
	OpeningLevel benchLevel `json:"openingLevel"`
	ClosingLevel benchLevel `json:"closingLevel"`
	SealOn       string     `json:"sealOn"`
	SealOff      string     `json:"sealOff"`
	Comments     string     `json:"comments"`
	Start        string     `json:"start"`
	End          string     `json:"end"`
	Purchaser    string     `json:"purchaser"`
}

type benchEvent struct {
	RuleName        string `json:"ruleName"`
	Note            string `json:"note"`
	StartTimeString string `json:"startTimeString"`
	EndTimeString   string `json:"endTimeString"`
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("GAUGER_TANKS")
	if dir == "" {
		t.Skip("GAUGER_TANKS names no folder of recordings")
	}
	kill, _ := strconv.Atoi(os.Getenv("GAUGER_KILL"))
	raw, err := os.ReadFile(filepath.Join(dir, "tanks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []benchTank
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	var names []string
	byCase := map[string][]benchTank{}
	for _, b := range all {
		if byCase[b.Case] == nil {
			names = append(names, b.Case)
		}
		byCase[b.Case] = append(byCase[b.Case], b)
	}
	tickets, events := []benchTicket{}, []benchEvent{}
	for _, p := range replayAll(t, dir, names, byCase, kill) {
		tickets, events = append(tickets, p.tickets...), append(events, p.events...)
	}
	save := func(name string, v any) {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("tickets.json", tickets)
	save("events.json", events)
}

// replayAll replays the cases two at a time, and gives what came of them in their order.
func replayAll(t *testing.T, dir string, names []string, byCase map[string][]benchTank, kill int) []player {
	out := make([]player, len(names))
	work := make(chan int)
	var wg sync.WaitGroup
	replay := func() {
		for k := range work {
			p, err := replayCase(filepath.Join(dir, names[k]+".csv"), byCase[names[k]], kill)
			if err != nil {
				t.Error(err)
			}
			out[k] = p
		}
	}
	wg.Go(replay)
	wg.Go(replay)
	for k := range names {
		work <- k
	}
	close(work)
	wg.Wait()
	return out
}

func benchSite(tanks []benchTank) (Site, error) {
	sensors := map[string]string{"gwr": "radar", "mag": "float", "reed": "float", "ultrasonic": "ultrasonic", "hydro": "hydrostatic", "ma12": "analog"}
	var ts []Tank
	for _, b := range tanks {
		tab, err := NewTable(b.Strap)
		if err != nil {
			return Site{}, err
		}
		ts = append(ts, Tank{ID: b.ExternalID, Sensor: sensors[b.Sensor], Group: b.Group, Height: Length(b.HeightFt * 12), Table: tab,
			Lact: b.Role == "lact", Interface: b.HasIface, Every: time.Duration(b.PollSec) * time.Second, Loads: DefaultLoads()})
	}
	return NewSite(ts)
}

func replayCase(path string, tanks []benchTank, kill int) (player, error) {
	site, err := benchSite(tanks)
	if err != nil {
		return player{}, err
	}
	index := map[string]int{}
	for i, b := range tanks {
		index[b.ExternalID] = i
	}
	f, err := os.Open(path)
	if err != nil {
		return player{}, err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	if _, err := r.Read(); err != nil {
		return player{}, err
	}
	p := player{site: site}
	for row := 0; ; row++ {
		c, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return player{}, err
		}
		if kill > 0 && row%kill == kill-1 || kill < 0 && row == once(path, -kill) {
			if err := p.kill(); err != nil {
				return player{}, err
			}
		}
		if err := p.row(c, tanks, index); err != nil {
			return player{}, err
		}
	}
	return p, nil
}

// once is a row of a case at which it is killed, another for each n.
func once(path string, n int) int {
	h := fnv.New32a()
	fmt.Fprint(h, filepath.Base(path), n)
	return int(h.Sum32() % 12960)
}

// player replays a recording, losing what was not stored at each new boot.
type player struct {
	site    Site
	st      State
	stored  []byte
	boot    int64
	kills   int64
	tickets []benchTicket
	events  []benchEvent
}

func (p *player) kill() error {
	p.kills++
	p.st = State{}
	if p.stored == nil {
		return nil
	}
	return p.st.UnmarshalBinary(p.stored)
}

func (p *player) row(c []string, tanks []benchTank, index map[string]int) error {
	at, err := time.Parse(time.RFC3339, c[1])
	if err != nil {
		return err
	}
	mono, _ := strconv.Atoi(c[2])
	boot, _ := strconv.ParseInt(c[3], 10, 64)
	if boot != p.boot {
		if err := p.kill(); err != nil {
			return err
		}
		p.boot = boot
	}
	i := index[c[4]]
	x, _ := strconv.ParseFloat(c[5], 64)
	per := map[string]float64{"ft": 12, "m": 1 / 0.0254, "pct": tanks[i].HeightFt * 12 / 100}[tanks[i].Unit]
	if per == 0 {
		per = 1
	}
	in := Input{Kind: Level, Tank: i, Value: x * per, Good: c[6] == "good", At: at, Mono: time.Duration(mono) * time.Second, Boot: boot + p.kills*1000}
	if err := p.feed(in); err != nil {
		return err
	}
	in.Kind, in.Good = TopTemperature, true
	in.Value, _ = strconv.ParseFloat(c[7], 64)
	if err := p.feed(in); err != nil {
		return err
	}
	if c[8] != "" {
		in.Kind = Interface
		in.Value, _ = strconv.ParseFloat(c[8], 64)
		return p.feed(in)
	}
	return nil
}

func (p *player) feed(in Input) error {
	mark := p.st.Mark()
	st, out := p.site.Next(p.st, in)
	p.st = st
	if st.Mark() != mark {
		b, err := st.MarshalBinary()
		if err != nil {
			return err
		}
		p.stored = b
	}
	for _, o := range out {
		p.take(o)
	}
	return nil
}

func (p *player) take(o Outcome) {
	stamp := func(t time.Time) string { return t.Format(time.RFC3339) }
	if e := o.Event; e != nil {
		p.events = append(p.events, benchEvent{e.Rule, e.Note, stamp(e.Start), stamp(e.End)})
		return
	}
	if c := o.Correction; c != nil {
		p.events = append(p.events, benchEvent{"ticket-correction", c.Note, stamp(c.Began), stamp(c.Began)})
		return
	}
	l := o.Load
	if l == nil {
		return
	}
	var t benchTicket
	t.TicketNumber = fmt.Sprintf("A-%s-%s", l.Tank, l.Began.Format("20060102T1504Z"))
	t.Tank.ExternalID = l.Tank
	t.OpeningLevel.Level, t.ClosingLevel.Level = stats.Round(l.Open, 2), stats.Round(l.Close, 2)
	t.Start, t.End, t.Purchaser = stamp(l.Start), stamp(l.End), "x"
	t.SealOff, t.SealOn = t.Start, t.End
	t.Comments = fmt.Sprintf("auto; conf=%.2f; removed_bbl=%.1f; inflow=%.1f; err=%.2f; parts=%d; n=%d; gap=%s", l.Confidence, l.RemovedBbl, l.InflowBbl, l.ErrorBbl, l.Parts, l.Samples, l.Gap)
	if len(l.Review) > 0 {
		t.Comments += "; needs review: " + strings.Join(l.Review, ", ")
	}
	p.tickets = append(p.tickets, t)
}

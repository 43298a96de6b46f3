package sparkplug

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// message is a payload with a number, and metrics of a name and an alias each; an empty name is left out.
func message(t *testing.T, seq uint64, metrics ...[]byte) *Payload {
	t.Helper()
	raw := num(payloadSeq, seq)
	for _, m := range metrics {
		raw = append(raw, str(payloadMetrics, m)...)
	}
	p, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func aliased(name string, alias uint64) []byte {
	if name == "" {
		return num(metricAlias, alias)
	}
	return slices.Concat(str(metricName, name), num(metricAlias, alias), num(metricType, uint64(typeDouble)))
}

func bdSeq(n uint64) []byte { return slices.Concat(str(metricName, "bdSeq"), num(valueLong, n)) }

func TestAnAliasMeansWhatItsBirthSays(t *testing.T) {
	n := NewNode("G", "N")
	b := n.BirthOf("")
	level := b.DefinitionOf("level")
	b.DefinitionOf("lost")
	b.Define(message(t, 0, aliased("level", 7), aliased("other", 8)))
	if !level.Born || level.Type != typeDouble || b.metrics["lost"].Born {
		t.Errorf("born %+v, and %+v", level, b.metrics["lost"])
	}
	for _, c := range []struct {
		alias uint64
		want  *Definition
		why   string
	}{{7, level, ""}, {8, nil, ""}, {9, nil, "alias 9, which the birth of G/N does not have"}} {
		d, err := b.Find(&Metric{alias: c.alias, aliased: true})
		if d != c.want || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("alias %d: %v, %v; want %v, %s", c.alias, d, err, c.want, c.why)
		}
	}
	if _, err := b.Find(&Metric{}); err == nil {
		t.Error("a metric with neither name nor alias was found")
	}
	if b.End(noon); b.Born || !b.Since.Equal(noon) {
		t.Errorf("ended: %+v", b)
	}
}

// TestALostMessageMakesAliasesUncertain until the next birth, and a death ends only its own life.
func TestALostMessageMakesAliasesUncertain(t *testing.T) {
	n := NewNode("G", "N")
	if n.Follow(message(t, 5), noon) {
		t.Error("a message means something before the birth")
	}
	n.Begin(message(t, 254, bdSeq(3)), noon)
	for _, seq := range []uint64{255, 0, 1} { // it is a byte
		if !n.Follow(message(t, seq), noon) || n.Uncertain != nil {
			t.Errorf("message %d: %v", seq, n.Uncertain)
		}
	}
	if again := message(t, 1); !n.Repeats(again) {
		t.Error("the number of the message before is not known again")
	}
	n.Follow(message(t, 3), noon.Add(time.Minute))
	n.Follow(message(t, 9), noon.Add(time.Hour))
	if n.Uncertain == nil || !strings.Contains(n.Uncertain.Error(), "message 3 of G/N came where 2 was due") || !n.UncertainSince.Equal(noon.Add(time.Minute)) {
		t.Errorf("uncertain: %v since %s", n.Uncertain, n.UncertainSince)
	}
	if n.Died(message(t, 0, bdSeq(2))) || n.Uncertain == nil {
		t.Error("the death of an earlier life ended this one")
	}
	if !n.Died(message(t, 0, bdSeq(3))) || n.Uncertain != nil {
		t.Errorf("after its own death: %v", n.Uncertain)
	}
}

func TestABirthIsAskedForLessAndLess(t *testing.T) {
	n := NewNode("G", "N")
	if n.RebirthDue(noon) {
		t.Error("asked for without need")
	}
	n.Connect(noon, 100)
	at, last := noon.Add(startupSpread*time.Second), time.Duration(0)
	for i := range 8 {
		if !n.RebirthDue(at) || n.RebirthDue(at) {
			t.Fatalf("request %d is not due once at %s", i, at)
		}
		wait := min(rebirthEvery<<i, rebirthSeldom)
		if wait < last || n.RebirthDue(at.Add(wait-time.Second)) {
			t.Fatalf("request %d comes before %s", i+1, wait)
		}
		at, last = at.Add(wait+wait/4), wait
	}
	if n.Begin(message(t, 0), at); n.RebirthDue(at.Add(time.Hour)) {
		t.Error("a birth is asked for that has come")
	}
	topic, payload := Rebirth("G", "N", noon)
	p, err := Parse(payload)
	if err != nil || topic != "spBv1.0/G/NCMD/N" || p.Millis != uint64(noon.UnixMilli()) {
		t.Fatalf("%s %x: %v", topic, payload, err)
	}
	p.Each(func(m *Metric) {
		if v, err := m.Value(m.Type); string(m.Name) != "Node Control/Rebirth" || v != true || err != nil {
			t.Errorf("%s is %v, %v", m.Name, v, err)
		}
	})
}

func TestTopicsOfNodes(t *testing.T) {
	for topic, want := range map[string]string{
		"spBv1.0/G/NDATA/N": "G NDATA N ", "spBv1.0/G/DDATA/N/D": "G DDATA N D", "spBv1.0/STATE/host": "STATE host  ", "field/tk1": "   ",
	} {
		group, kind, node, device := SplitTopic(topic)
		if got := strings.Join([]string{group, kind, node, device}, " "); got != want {
			t.Errorf("%s: %q, want %q", topic, got, want)
		}
	}
	for path, good := range map[string]bool{"G/N": true, "G/N/D": true, "G": false, "G//D": false, "G/N/D/E": false, "G/+": false} {
		group, node, device, err := ParsePath(path)
		if (err == nil) != good || good && JoinPath(group, node, device) != path {
			t.Errorf("%s: %s %s %s, %v", path, group, node, device, err)
		}
	}
}

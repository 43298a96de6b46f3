package mqtt

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	mochi "github.com/mochi-mqtt/server/v2"

	"gauger/collectors"
)

// The fields and types of Sparkplug B that these tests write, by the numbers of its specification.
const (
	payloadTime, payloadMetrics, payloadSeq                                                     = 1, 2, 3
	metricName, metricAlias, metricTime, metricType, metricHistorical                           = 1, 2, 3, 4, 5
	metricNull, metricProperties, valueInt, valueLong, valueFloat                               = 7, 9, 10, 11, 12
	valueDouble, valueBool, valueString                                                         = 13, 14, 15
	typeInt16, typeInt32, typeInt64, typeUInt64, typeFloat, typeDouble, typeBoolean, typeString = 2, 3, 4, 8, 9, 10, 11, 12
)

// The encoder of these tests: fields one after the other.
func num(id int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(id<<3)), v)
}

func str[T string | []byte](id int, v T) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(id<<3|2)), uint64(len(v))), v...)
}

func dbl(id int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, uint64(id<<3|1)), math.Float64bits(v))
}

// spb is a payload with a number and metrics.
func spb(seq int, metrics ...[]byte) []byte {
	out := num(payloadTime, uint64(time.Now().UnixMilli()))
	for _, m := range metrics {
		out = append(out, str(payloadMetrics, m)...)
	}
	if seq >= 0 {
		out = append(out, num(payloadSeq, uint64(seq&255))...)
	}
	return out
}

// level is a Double by alias; with a name as a birth has it.
func level(name string, alias int, v float64) []byte {
	var m []byte
	if name != "" {
		m = append(str(metricName, name), num(metricType, uint64(typeDouble))...)
	}
	return slices.Concat(m, num(metricAlias, uint64(alias)), dbl(valueDouble, v))
}

func bdSeq(n int) []byte {
	return slices.Concat(str(metricName, "bdSeq"), num(metricType, uint64(typeUInt64)), num(valueLong, uint64(n)))
}

// spBench is a session with one node, and what was published to others.
type spBench struct {
	*testing.T
	b  *broker
	h  *memo
	mu sync.Mutex
	to []packets.Packet
}

// newSpBroker is a broker alone, and what is published on it to others.
func newSpBroker(t *testing.T) *spBench {
	p := &spBench{T: t, b: newBroker(t), h: newMemo()}
	for i, filter := range []string{"spBv1.0/+/NCMD/#", "spBv1.0/STATE/#", "STATE/#"} {
		if err := p.b.server.Subscribe(filter, i+1, func(_ *mochi.Client, _ packets.Subscription, pk packets.Packet) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.to = append(p.to, pk)
		}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func newSpBench(t *testing.T, change func(d *Device)) *spBench {
	p := newSpBroker(t)
	d := Device{Name: "edge", Brokers: Brokers{address}, ClientID: "gauger-test", Points: []Point{
		{Name: "n", Sparkplug: "G/N", Metric: "n", Unit: "in"}, {Name: "d", Sparkplug: "G/N/D", Metric: "d", Unit: "in"}}}
	if change != nil {
		change(&d)
	}
	start(t, p.h, collect(t, Session{Dial: p.b.dial}, d))
	return p
}

func (p *spBench) publish(topic string, payload []byte) {
	p.Helper()
	if err := p.b.server.Publish("spBv1.0/G/"+topic, payload, false, 0); err != nil {
		p.Fatal(err)
	}
	momentarily()
}

// births are those of the node and its device, under the aliases 1 and 2 and from the values 10 and 20.
func (p *spBench) births(bd int) {
	p.publish("NBIRTH/N", spb(0, bdSeq(bd), level("n", 1, 10)))
	p.publish("DBIRTH/N/D", spb(1, level("d", 2, 20)))
}

// asked counts the requests for a birth.
func (p *spBench) asked() (n int) {
	for _, said := range p.said("spBv1.0/G/NCMD/N") {
		if strings.Contains(said, "Node Control/Rebirth") {
			n++
		}
	}
	return n
}

// said are the payloads that were published on a topic.
func (p *spBench) said(topic string) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pk := range p.to {
		if pk.TopicName == topic {
			all = append(all, string(pk.Payload))
		}
	}
	return all
}

// want compares the newest reading of a point.
func (p *spBench) want(point string, value float64, q collectors.Quality, why string) {
	p.Helper()
	all := p.h.all("edge/" + point)
	if len(all) == 0 {
		p.Errorf("%s: nothing, want %v %s", point, value, q)
		return
	}
	r := all[len(all)-1]
	if same := r.Value == value || math.IsNaN(r.Value) && math.IsNaN(value); !same || r.Quality != q || (r.Err == nil) != (why == "") || r.Err != nil && !strings.Contains(r.Err.Error(), why) {
		p.Errorf("%s: %v %s (%v), want %v %s (%s)", point, r.Value, r.Quality, r.Err, value, q, why)
	}
}

var none = math.NaN()

func TestANodeIsAskedForItsBirthAndNotTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(3 * time.Second)
		if p.asked() != 1 {
			t.Fatalf("asked %d times at the connection, want once", p.asked())
		}
		for i := range 50 {
			p.publish("DDATA/N/D", spb(i+7, level("", 2, 99)))
		}
		if got := p.h.kept(); len(got) != 2 || !strings.Contains(got[0].Err.Error(), "came before its birth") || !strings.Contains(got[1].Err.Error(), "message 10") {
			t.Errorf("kept %v, want the first message and the tenth", got)
		}
		later(2 * time.Minute)
		p.want("d", none, collectors.Bad, "has told no birth")
		later(2 * time.Hour)
		if n := p.asked(); n < 5 || n > 15 {
			t.Errorf("asked %d times in two hours", n)
		}
		p.births(1)
		p.want("n", 10, fine, "")
		p.want("d", 20, fine, "")
		n := p.asked()
		later(2 * time.Hour)
		if p.asked() != n {
			t.Error("asked although it is born")
		}
		if told := p.h.noticed("comm-loss"); len(told) != 4 || told[3].Until.IsZero() {
			t.Errorf("told %+v, want the beginning and the end for node and device", told)
		}
	})
}

func TestAliasesOfAnEarlierConnectionMeanNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.births(1)
		p.publish("DDATA/N/D", spb(2, level("", 2, 21)))
		p.want("d", 21, fine, "")
		before := p.asked()
		p.b.cut()
		later(5 * time.Second)
		if p.asked() == before {
			t.Error("nobody asked after the connection was lost")
		}
		p.publish("DDATA/N/D", spb(3, level("", 2, 99)))
		p.want("d", 21, fine, "")
		p.publish("NBIRTH/N", spb(0, bdSeq(2), level("n", 2, 11)))
		p.publish("NDATA/N", spb(1, level("", 2, 12)))
		p.want("n", 12, fine, "")
		p.want("d", 21, fine, "")
		p.publish("DDATA/N/D", spb(2, level("", 2, 99)))
		p.want("d", 21, fine, "")
	})
}

func TestALostMessageMakesAliasesUncertain(t *testing.T) {
	cases := []struct {
		name, why string
		tell      func(p *spBench)
		value     float64
	}{
		{"a number is left out", "one is lost", func(p *spBench) { p.publish("DDATA/N/D", spb(3, level("", 2, 21))) }, 21},
		{"a device that nobody reads had it", "one is lost", func(p *spBench) {
			p.publish("DDATA/N/other", spb(4))
			p.publish("DDATA/N/D", spb(5, level("", 2, 21)))
		}, 21},
		{"an alias that was never born", "alias 77", func(p *spBench) {
			p.publish("DDATA/N/D", spb(2, level("", 77, 1)))
			p.publish("DDATA/N/D", spb(3, level("", 2, 21)))
		}, 21},
		{"bytes that are no payload", "no Sparkplug B payload", func(p *spBench) {
			p.publish("DDATA/N/D", []byte("\x12\x7f?"))
			p.publish("DDATA/N/D", spb(2, level("", 2, 21)))
		}, 21},
		{"a value of another type", "", func(p *spBench) {
			p.publish("DDATA/N/D", spb(2, slices.Concat(num(metricAlias, 2), num(metricType, uint64(typeInt16)), num(valueInt, 5))))
		}, none},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSpBench(t, nil)
				later(time.Second)
				p.births(1)
				before := p.asked()
				c.tell(p)
				if !math.IsNaN(c.value) {
					p.want("d", c.value, collectors.Uncertain, c.why)
				} else {
					p.want("d", none, collectors.Bad, "is Int16, and its birth said Double")
				}
				later(3 * time.Second)
				if p.asked() != before+1 || len(p.h.noticed("message-lost")) != 1 {
					t.Errorf("asked %d times for a birth, want once; told %+v", p.asked()-before, p.h.noticed("message-lost"))
				}
				p.births(1)
				p.want("d", 20, fine, "")
				later(2 * time.Second)
				if told := p.h.noticed("message-lost"); len(told) != 2 || told[1].Until.IsZero() {
					t.Errorf("told %+v", told)
				}
			})
		})
	}
}

// TestAMetricOutOfOrderCostsNoOther: what one metric lacks is its own fault. The others of its message are read, and nothing
// is in doubt.
func TestAMetricOutOfOrderCostsNoOther(t *testing.T) {
	broken := map[string][]byte{
		"a value in the wrong kind":   slices.Concat(str(metricName, "d"), num(metricAlias, 2), str(valueDouble, "x")),
		"a quality in the wrong kind": slices.Concat(num(metricAlias, 2), num(metricProperties, 1), dbl(valueDouble, 21)),
		"properties that are cut":     slices.Concat(num(metricAlias, 2), dbl(valueDouble, 21), str(metricProperties, []byte{0x0a, 9})),
	}
	for name, metric := range broken {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSpBench(t, func(d *Device) {
					d.Points = append(d.Points, Point{Name: "e", Sparkplug: "G/N/D", Metric: "e", Unit: "in"})
				})
				later(time.Second)
				p.publish("NBIRTH/N", spb(0, bdSeq(1), level("n", 1, 10)))
				p.publish("DBIRTH/N/D", spb(1, level("d", 2, 20), level("e", 3, 30)))
				before := p.asked()
				p.publish("DDATA/N/D", spb(2, metric, level("", 3, 31)))
				p.want("d", none, collectors.Bad, "metric d")
				p.want("e", 31, fine, "")
				later(refusedWait)
				if kept := p.h.kept(); len(kept) != 1 {
					t.Errorf("kept %d messages, want the one with the metric", len(kept))
				}
				p.publish("DBIRTH/N/D", spb(3, slices.Concat(str(metricName, "d"), metric), level("e", 3, 32)))
				p.want("d", none, collectors.Bad, "metric d")
				p.publish("DDATA/N/D", spb(4, level("", 3, 33)))
				p.want("e", 33, fine, "")
				later(3 * time.Second)
				if told := p.h.noticed("message-lost"); p.asked() != before || len(told) != 0 {
					t.Errorf("asked %d times for a birth, told %+v; want neither", p.asked()-before, told)
				}
			})
		})
	}
}

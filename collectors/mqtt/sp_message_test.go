package mqtt

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gauger/collectors"
)

func FuzzSparkplug(f *testing.F) {
	f.Add("NBIRTH", spb(0, bdSeq(1), level("n", 1, 10)))
	f.Add("NDATA", spb(1, level("", 1, 10)))
	f.Add("NDEATH", str(payloadMetrics, bdSeq(1)))
	f.Add("DDATA", spb(2, slices.Concat(str(metricName, "d"), num(metricNull, 1))))
	f.Add("NDATA", slices.Concat(num(metricTime, math.MaxUint64), str(payloadMetrics, str(metricProperties, slices.Concat(str(1, "Quality"), str(2, num(3, 192)))))))
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		sessions, err := newSessions([]Device{{Name: "edge", Brokers: Brokers{address}, Points: []Point{
			{Name: "n", Sparkplug: "G/N", Metric: "n"}, {Name: "w", Sparkplug: "G/N", Metric: "n", Unit: "text"}, {Name: "d", Sparkplug: "G/N/D", Metric: "d"}}}}, Session{})
		if err != nil {
			t.Fatal(err)
		}
		s, via := sessions[0].committer, &packetConn{}
		for _, m := range []struct {
			topic   string
			payload []byte
		}{{"NBIRTH/N", spb(0, level("n", 1, 10))}, {"DBIRTH/N/D", spb(1, level("d", 2, 20))}, {kind + "/N", payload}, {kind + "/N/D", payload}, {"NDATA/N", spb(2, level("", 1, 11))}} {
			a := arrival{Message: &heard{"spBv1.0/G/" + m.topic, m.payload}, conn: via, at: arrived}
			readings, _ := s.decodeMessage(a)
			for _, r := range readings {
				if (r.Quality == collectors.Good) != (r.Err == nil) || r.Quality != collectors.Bad && r.Text == "" && !isFinite(r.Value) || r.Past && r.At.Equal(arrived) {
					t.Fatalf("%s: %+v; want an error unless good, a value unless bad, and no past at the arrival", m.topic, r)
				}
			}
		}
	})
}

// heard is a message that no broker has sent.
type heard struct {
	topic   string
	payload []byte
}

func (h *heard) Duplicate() bool   { return false }
func (h *heard) Qos() byte         { return 0 }
func (h *heard) Retained() bool    { return false }
func (h *heard) Topic() string     { return h.topic }
func (h *heard) MessageID() uint16 { return 0 }
func (h *heard) Payload() []byte   { return h.payload }
func (h *heard) Ack()              {}
func (h *heard) String() string    { return fmt.Sprintf("%s %x", h.topic, h.payload) }

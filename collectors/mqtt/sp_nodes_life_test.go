package mqtt

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

func TestADeathMakesEveryMetricBadUnlessItIsAnOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.births(7)
		n := p.asked()
		p.publish("NDEATH/N", slices.Concat(num(payloadTime, 1), str(payloadMetrics, bdSeq(6))))
		p.want("n", 10, fine, "")
		p.publish("NDEATH/N", str(payloadMetrics, bdSeq(7)))
		p.want("n", none, collectors.Bad, "has died (NDEATH)")
		p.want("d", none, collectors.Bad, "has died (NDEATH)")
		later(time.Hour)
		if p.asked() != n {
			t.Error("a dead node is asked for its birth")
		}
		p.publish("NDATA/N", spb(2, level("", 1, 99)))
		p.want("n", none, collectors.Bad, "has died")
		later(2 * time.Second)
		if p.asked() != n+1 {
			t.Error("one that speaks after its death is not asked")
		}
		p.births(8)
		p.want("d", 20, fine, "")
		p.publish("DDEATH/N/D", spb(2))
		p.want("d", none, collectors.Bad, "has died (DDEATH)")
		p.publish("NDATA/N", spb(3, level("", 1, 11)))
		p.want("n", 11, fine, "")
		p.publish("DBIRTH/N/D", spb(4, level("d", 2, 22)))
		p.want("d", 22, fine, "")
		p.publish("NBIRTH/N", spb(0, bdSeq(8), level("n", 1, 12)))
		p.publish("DDATA/N/D", spb(1, level("", 2, 99))) // the node was born again, and the device was not
		p.want("d", 22, fine, "")
		later(2 * time.Minute)
		p.want("d", none, collectors.Bad, "has told no birth")
		p.want("n", 12, fine, "")
	})
}

func TestNumbersGoRoundAndMessagesComeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.births(1)
		for i := 2; i < 600; i++ {
			same := spb(i, level("", 2, float64(i)))
			p.publish("DDATA/N/D", same)
			if i%100 == 0 {
				p.publish("DDATA/N/D", same)
			}
		}
		p.want("d", 599, fine, "")
		if got := len(p.h.goods("edge/d")); got != 599 {
			t.Errorf("%d readings, want 598 and the birth's", got)
		}
	})
}

func TestARetainedBirthIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.births(1)
		p.b.cut()
		if err := p.b.server.Publish("spBv1.0/G/NBIRTH/N", spb(0, level("n", 2, 99)), true, 0); err != nil {
			t.Fatal(err)
		}
		later(5 * time.Second)
		p.publish("NDATA/N", spb(1, level("", 2, 99)))
		p.want("n", 10, fine, "")
	})
}

func TestABirthWithoutTheMetricSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.publish("NBIRTH/N", spb(0, level("other", 1, 10)))
		p.want("n", none, collectors.Bad, `the birth of G/N has no metric "n"`)
		p.publish("NDATA/N", spb(1, level("n", 1, 11))) // by its name it needs no alias
		p.want("n", 11, fine, "")
		p.publish("NDATA/N", spb(2, slices.Concat(str(metricName, "n"), num(metricType, uint64(typeDouble)), num(metricHistorical, 1), num(metricTime, 5), dbl(valueDouble, 1))))
		p.want("n", 11, fine, "")
		later(refusedWait)
		if got := p.h.kept(); len(got) != 1 || !strings.Contains(got[0].Err.Error(), "has a historical value of no time") {
			t.Errorf("kept %v", got)
		}
	})
}

func TestThePrimaryHostSaysThatItIsThere(t *testing.T) {
	for id, topic := range map[string]string{"pump": "spBv1.0/STATE/pump", "STATE/pump": "STATE/pump"} {
		t.Run(topic, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSpBench(t, func(d *Device) { d.SparkplugHost = id })
				online := func(said string) bool {
					return strings.HasPrefix(said, `{"online":true,"timestamp":9466848`) || said == "ONLINE"
				}
				offline := func(said string) bool {
					return strings.HasPrefix(said, `{"online":false,"timestamp":9466848`) || said == "OFFLINE"
				}
				check := func(when string, want ...func(string) bool) {
					t.Helper()
					said := p.said(topic)
					for i, is := range want {
						if i >= len(said) || !is(said[i]) {
							t.Fatalf("%s: said %q", when, said)
						}
					}
					if len(said) != len(want) {
						t.Fatalf("%s: said %q", when, said)
					}
				}
				later(time.Second)
				check("at the connection", online)
				if kept := p.b.server.Topics.Messages(topic); len(kept) != 1 || !online(string(kept[0].Payload)) {
					t.Errorf("retained: %v", kept)
				}
				if err := p.b.server.Publish(topic, []byte(`{"online":false,"timestamp":1}`), true, 1); err != nil {
					t.Fatal(err)
				}
				later(time.Second)
				check("after a word of an earlier life", online, func(said string) bool { return strings.Contains(said, "false") }, online)
				p.b.cut()
				later(5 * time.Second)
				check("after the connection was lost", online, func(string) bool { return true }, online, offline, online)
			})
		})
	}
}

func TestAnOrderlyEndIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &spBench{T: t, b: newBroker(t), h: newMemo()}
		d := Device{Name: "edge", Brokers: Brokers{address}, ClientID: "gauger-test", SparkplugHost: "pump", Points: []Point{{Name: "n", Sparkplug: "G/N", Metric: "n"}}}
		stop := start(t, p.h, collect(t, Session{Dial: p.b.dial}, d))
		later(time.Second)
		stop()
		later(time.Second)
		if kept := p.b.server.Topics.Messages("spBv1.0/STATE/pump"); len(kept) != 1 || !strings.Contains(string(kept[0].Payload), `"online":false`) {
			t.Errorf("retained: %v", kept)
		}
	})
}

func TestWhoListensOnlyPublishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, func(d *Device) { d.ListenOnly = true })
		later(time.Second)
		p.publish("DDATA/N/D", spb(7, level("", 2, 99)))
		later(time.Hour)
		if p.asked() != 0 {
			t.Errorf("asked %d times", p.asked())
		}
		p.births(1)
		p.want("d", 20, fine, "")
	})
}

func TestABirthThatIsTooLongIsKeptByItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSpBench(t, nil)
		later(time.Second)
		p.publish("NBIRTH/N", spb(0, level("n", 1, 10), str(metricName, make([]byte, maxBirth))))
		if got := p.h.kept(); len(got) != 1 || !strings.Contains(got[0].Err.Error(), "only its beginning was kept") {
			t.Errorf("kept %d", len(got))
		}
		p.publish("NBIRTH/N", spb(0, level("n", 1, 10), str(metricName, make([]byte, maxBirth-1000))))
		p.want("n", 10, fine, "")
	})
}

func TestDiscoverAsksEachNodeForItsBirthsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, listenOnly := range []bool{false, true} {
			p := newSpBroker(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			found := make(chan []Heard, 1)
			go func() {
				all, _, err := Discover(ctx, Device{Name: "d", Brokers: Brokers{address}, ListenOnly: listenOnly}, "#", Session{Dial: p.b.dial})
				if err != nil {
					t.Error(err)
				}
				found <- all
			}()
			later(time.Second)
			for i := range 3 {
				p.publish("DDATA/N/D", spb(i+7, level("", 2, 99)))
			}
			later(time.Second)
			if want := map[bool]int{false: 1, true: 0}[listenOnly]; p.asked() != want {
				t.Errorf("asked %d times, want %d", p.asked(), want)
			}
			p.births(1)
			cancel()
			var lines []Point
			for _, h := range <-found {
				for _, s := range h.Suggest() {
					lines = append(lines, s.Point)
				}
			}
			want := []Point{{Name: "d", Sparkplug: "G/N/D", Metric: "d"}, {Name: "n", Sparkplug: "G/N", Metric: "n"}}
			if !reflect.DeepEqual(lines, want) {
				t.Errorf("suggested %+v, want %+v", lines, want)
			}
		}
	})
}

package mqtt

import (
	"fmt"
	"testing"
)

// TestSharedSubscription: two programs of one group get each message once between them, and who only looks on takes
// nothing away.
func TestSharedSubscription(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	group := newMemo()
	for i := range 2 {
		d := at(m.url("mqtt"), "$share/gaugers/field/+")
		d.Name, d.Points[0].Name, d.ClientID = fmt.Sprint("radio", i), "level", fmt.Sprintf("gauger-%d", i)
		c := collect(t, Session{}, d)
		start(t, group, c)
		connected(t, c)
	}
	d := at(m.url("mqtt"), "$share/gaugers/field/+")
	d.Points[0].Name = "level"
	looking, onlooker := newMemo(), collect(t, Session{Clean: true}, d)
	start(t, looking, onlooker)
	connected(t, onlooker)

	const n = 200
	out := publisher(t, m.url("mqtt"))
	for i := range n {
		waitFor(t, out.Publish("field/tk1", 1, false, fmt.Sprint(i)))
	}
	looking.values(t, "radio/level", n)
	group.values(t, "", n)
	got := map[float64]int{}
	for _, v := range group.goods("") {
		got[v]++
	}
	for i := range n {
		if got[float64(i)] != 1 {
			t.Errorf("message %d came %d times, want once", i, got[float64(i)])
		}
	}
	if len(group.goods("radio0/level")) == 0 || len(group.goods("radio1/level")) == 0 {
		t.Error("one of the group got nothing")
	}
}

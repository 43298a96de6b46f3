package mqtt

import (
	"testing"
	"time"
)

func good() Device {
	return Device{Name: "radio", Brokers: Brokers{"mqtts://10.20.0.9"}, ClientID: "gauger-cooper", Username: "gauger", CAFile: "ca.pem",
		Points: []Point{{Name: "tk2-level", Topic: "field/tk2", Value: "level.in", Time: "ts", Unit: "in", Range: []float64{0, 240}}}}
}

func TestCheckFindsEachMistakeAtItsPlace(t *testing.T) {
	if found := good().Check(); len(found) > 0 {
		t.Fatalf("without a mistake: %v", found)
	}
	findsEach(t, []spoiled{
		{func(d *Device) { d.Name = "" }, "name", "missing"},
		{func(d *Device) { d.Brokers = Brokers{""} }, "mqtt", "missing"},
		{func(d *Device) { d.Brokers = Brokers{"tcp://host:1883"} }, "mqtt", "mqtt://"},
		{func(d *Device) { d.Brokers = Brokers{"mqtts://"} }, "mqtt", "names no host"},
		{func(d *Device) { d.Brokers = Brokers{"mqtts://u:secret@host"} }, "mqtt", "username and password"},
		{func(d *Device) { d.Brokers = Brokers{"mqtts://host/path"} }, "mqtt", "after the host"},
		{func(d *Device) { d.Brokers = Brokers{"mqtt://host"} }, "ca_file", "not encrypted"},
		{func(d *Device) { d.ClientID = "a\x00b" }, "client_id", "NUL"},
		{func(d *Device) { d.Username, d.Password = "", func() (string, error) { return "", nil } }, "username", "missing"},
		{func(d *Device) { d.CertFile = "c.pem" }, "key_file", "missing"},
		{func(d *Device) { d.KeyFile = "k.pem" }, "cert_file", "missing"},
		{func(d *Device) { d.Points = nil }, "points", "missing"},
		{func(d *Device) { d.Points = append(d.Points, d.Points[0]) }, "points[1].name", "already points[0]"},
		{func(d *Device) { d.Points[0].Name = "a/b" }, "points[0].name", "slash"},
		{func(d *Device) { d.Points[0].Name = "" }, "points[0].name", "missing"},
		{func(d *Device) { d.Points[0].Topic = "" }, "points[0].topic", "missing"},
		{func(d *Device) { d.Points[0].Topic = "field/#/level" }, "points[0].topic", "last level"},
		{func(d *Device) { d.Points[0].Topic = "field/tk+" }, "points[0].topic", "alone between slashes"},
		{func(d *Device) { d.Points[0].Topic = "$share/g" }, "points[0].topic", "$share/GROUP/FILTER"},
		{func(d *Device) { d.Points[0].Topic = "$share/+/field/tk1" }, "points[0].topic", "$share/GROUP/FILTER"},
		{func(d *Device) { d.Points[0].Topic = "$share/g/field/tk#" }, "points[0].topic", "last level"},
		{func(d *Device) { d.Points[0].Topic = "$queue/field" }, "points[0].topic", "$share/GROUP/field"},
		{func(d *Device) { d.Status = "field/+" }, "status_topic", "one topic"},
		{func(d *Device) { d.Brokers = Brokers{"mqtts://10.20.0.9", "mqtts://10.20.0.9:8883"} }, "mqtt[1]", "twice"},
		{func(d *Device) { d.Brokers = append(d.Brokers, "mqtt://10.20.1.9") }, "ca_file", "mqtt://10.20.1.9:1883, which is not encrypted"},
		{func(d *Device) { d.Points[0].Value = "$.level" }, "points[0].value", "begins with $"},
		{func(d *Device) { d.Points[0].Time = "t[" }, "points[0].time", "needs ]"},
		{func(d *Device) { d.Points[0].Value = "" }, "points[0].time", "needs value"},
		{func(d *Device) { d.Points[0].Scale = new(0.0) }, "points[0].scale", "same"},
		{func(d *Device) { d.Points[0].Range = []float64{240, 0} }, "points[0].range", "less than"},
		{func(d *Device) { d.Points[0].Range = []float64{1} }, "points[0].range", "two"},
		{func(d *Device) { d.Points[0].ExpectEvery = -time.Second }, "points[0].expect_every", "negative"},
		{func(d *Device) { d.Points[0].Unit = "text" }, "points[0].unit", "text"},
	})
}

func TestCheckSharedFindsQuarrels(t *testing.T) {
	other := good()
	other.Name, other.Username = "radio2", "somebody"
	if found := CheckShared([]Device{good(), other}); len(found[0]) != 0 || len(found[1]) != 1 || found[1][0].Path != "username" {
		t.Errorf("different users: %v", found)
	}
	other = good()
	other.Name, other.Brokers = "radio2", Brokers{"wss://10.20.0.9/mqtt"}
	if found := CheckShared([]Device{good(), other}); len(found[1]) != 1 || found[1][0].Path != "client_id" {
		t.Errorf("one client id by two ways: %v", found)
	}
	other.ClientID = "another"
	if found := CheckShared([]Device{good(), other}); len(found[1]) != 0 {
		t.Errorf("two client ids: %v", found)
	}
}

func TestOneSessionForEachBrokerAndClientID(t *testing.T) {
	a, b, c := good(), good(), good()
	b.Name, b.Brokers = "radio2", Brokers{"mqtts://10.20.0.9:8883"} // the usual port, spelled out
	c.Name, c.ClientID = "radio3", "another"
	sessions, err := newSessions([]Device{a, b, c}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 2 || sessions[0].label != "radio,radio2" || len(sessions[0].committer.points.all) != 2 {
		t.Errorf("%d sessions; the first is %q", len(sessions), sessions[0].label)
	}
}

package mqtt

import (
	"strings"
	"testing"
)

// spoiled is one edit of the good device, and the one problem that it must make.
type spoiled struct {
	spoil      func(d *Device)
	path, part string
}

func findsEach(t *testing.T, cases []spoiled) {
	t.Helper()
	for _, c := range cases {
		d := good()
		c.spoil(&d)
		found := d.Check()
		if len(found) != 1 || found[0].Path != c.path || !strings.Contains(found[0].Message, c.part) {
			t.Errorf("%s: %+v", c.path, found)
		}
		if _, err := New([]Device{d}, Session{}); err == nil {
			t.Errorf("New took a device with a wrong %s", c.path)
		}
	}
}

func TestCheckFindsMistakesInPayloadsAndSparkplug(t *testing.T) {
	findsEach(t, []spoiled{
		{func(d *Device) { d.Points[0].Value = "a[*].b[*]" }, "points[0].value", "more than one [*]"},
		{func(d *Device) { d.Points[0].Time = "a[*].ts" }, "points[0].time", "another list than the value"},
		{func(d *Device) { d.Points[0].Quality = "q." }, "points[0].quality", "empty key"},
		{func(d *Device) { d.Points[0].GoodQuality = []string{"ok"} }, "points[0].good_quality", "needs quality"},
		{func(d *Device) { d.Points[0].UnitPath = "[x]" }, "points[0].unit_path", "is no index"},
		{func(d *Device) { d.Points[0].Encoding = "hexx" }, "points[0].encoding", "hex, base64, binary"},
		{func(d *Device) { d.Points[0].Type = "float32" }, "points[0].type", "write encoding"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Type = "hex", "float23" }, "points[0].type", "unknown type"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Type = "hex", "string" }, "points[0].type", "text cannot be read"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Type = "hex", "bool" }, "points[0].bit", "missing"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Bit = "hex", new(16) }, "points[0].bit", "0 (least) to 15"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Order = "hex", "ABDC" }, "points[0].order", "unknown order"},
		{func(d *Device) { d.Points[0].Encoding, d.Points[0].Word = "hex", -1 }, "points[0].word", "the first is 0"},
		{func(d *Device) { d.Points[0].Encoding = "binary" }, "points[0].value", "whole payload"},
		{func(d *Device) { d.Points[0].Name = "{2}-level"; d.Points[0].Topic = "field/+/level" }, "points[0].name", "one for each +"},
		{func(d *Device) { d.Points[0].Name = "{1}{2}"; d.Points[0].Topic = "field/+/+" }, "points[0].name", "beside another"},
		{func(d *Device) { d.Points[0].Name = "{1}-level"; d.Points[0].Topic = "field/+/+" }, "points[0].name", "has no {2}"},
		{func(d *Device) { d.Points[0].Name = "{1}-level"; d.Points[0].Topic = "field/+/#" }, "points[0].topic", "ends with #"},
		{func(d *Device) { d.Points[0].Name = "level}" }, "points[0].name", "brace"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Sparkplug: "G/N"} }, "points[0].metric", "missing"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Metric: "m"} }, "points[0].sparkplug", "missing"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Sparkplug: "G", Metric: "m"} }, "points[0].sparkplug", "GROUP/NODE"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Sparkplug: "G/+", Metric: "m"} }, "points[0].sparkplug", "name one node"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Sparkplug: "G/N", Metric: "m", Topic: "x"} }, "points[0].topic", "no place beside sparkplug"},
		{func(d *Device) { d.Points[0] = Point{Name: "a", Topic: "spBv1.0/G/#"} }, "points[0].topic", "sparkplug: GROUP/NODE"},
		{func(d *Device) { d.SparkplugHost = "a/b" }, "sparkplug_host", "slash"},
		{func(d *Device) { d.SparkplugHost, d.ListenOnly = "a", true }, "listen_only", "contradicts"},
		{func(d *Device) { d.SparkplugHost, d.Status = "a", "field/status" }, "status_topic", "one last will"},
	})
}

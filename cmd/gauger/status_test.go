package main

import (
	"strings"
	"testing"

	"gauger/agent"
	"gauger/collectors"
	"gauger/config"
)

// TestPointsThatATemplateMakesHideNoneThatIsSilent: what is read beyond the configuration's own points does not make up
// for one that is not.
func TestPointsThatATemplateMakesHideNoneThatIsSilent(t *testing.T) {
	text := strings.NewReplacer("SERVICE", "127.0.0.1:1", "PLC", "127.0.0.1:2", "BROKER", "127.0.0.1:3",
		"    points:\n      - {name: level, topic", "    points:\n      - {name: \"{1}-rate\", topic: field/+/rate}\n      - {name: level, topic").Replace(siteYAML)
	cfg, err := config.Parse("gauger.yaml", []byte(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := page{h: here{cfg}}
	read := func(points ...string) string {
		for _, name := range points {
			p.s.Points = append(p.s.Points, agent.Shown{Point: collectors.Point(name), Quality: "good"})
		}
		return p.reading()
	}
	if got := read("plc/level", "plc/top", "plc/target", "plc/word", "radio/w1-rate", "radio/w2-rate"); got != "reading 6 of 7 points" {
		t.Errorf("without radio/level: %s", got)
	}
	if got := read("radio/level"); got != "reading all 7 points" {
		t.Errorf("with all: %s", got)
	}
}

// TestAHintIsNoAlarm: it stands below what is wrong, without the mark of a problem.
func TestAHintIsNoAlarm(t *testing.T) {
	var out strings.Builder
	p := page{s: agent.Status{Daemon: true, Problems: []string{"the clock is not set"}, Hints: []string{"look here"}}}
	if err := p.print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n  ! the clock is not set\n  hint: look here\n") {
		t.Errorf("the page is\n%s", out.String())
	}
}

package main

import (
	"fmt"
	"sort"
	"time"

	"gauger/collectors/sim"
)

// cue is something that happens at a time of the demonstration, by the wall clock.
type cue struct {
	at time.Duration
	do func(*demo) error
}

const (
	demoSpeed = 120.0 // the site's 45 minutes of confirmation become 22.5 s
	away      = 2 * time.Second
)

// visit is a truck that comes.
type visit struct {
	at   time.Duration
	tank string
	draw sim.Draw
}

// visits are the trucks of the demonstration: three tanks are hauled, one of them with a pause in the load, and one
// of them again by a second truck.
var visits = []visit{
	{3 * time.Second, "TK-1", sim.Draw{Barrels: 180, Rate: 6}},
	{4 * time.Second, "TK-2", sim.Draw{Barrels: 160, Rate: 8, Pauses: []sim.Pause{{After: 80, For: 6 * time.Minute}}}},
	{11 * time.Second, "TK-3", sim.Draw{Barrels: 150, Rate: 7}},
	{29500 * time.Millisecond, "TK-2", sim.Draw{Barrels: 100, Rate: 8}},
}

// The agent is killed while two trucks pump; the link to the service is down when the first tickets become final.
const (
	killAt    = 7 * time.Second
	cutAt     = 35 * time.Second
	restoreAt = 47 * time.Second
)

// script is the demonstration, in the order of its times.
func script() []cue {
	cues := []cue{
		{killAt, (*demo).killGauger},
		{killAt + away, (*demo).resume},
		{15 * time.Second, (*demo).raiseTarget},
		{cutAt, (*demo).cutLink},
		{38 * time.Second, (*demo).batteryDrops},
		{42 * time.Second, (*demo).batteryRecovers},
		{restoreAt, (*demo).restoreLink},
	}
	for _, v := range visits {
		cues = append(cues, cue{v.at, v.arrive})
	}
	sort.SliceStable(cues, func(i, j int) bool { return cues[i].at < cues[j].at })
	return cues
}

func (v visit) arrive(d *demo) error {
	t := d.site.tank(v.tank)
	if _, ok := t.Begin(v.draw); !ok {
		return fmt.Errorf("the truck at %s cannot load: another one is connected", v.tank)
	}
	d.say(plain, "truck at %s for %.0f bbl, %.1f in, pump starts", v.tank, v.draw.Barrels, t.Level())
	return nil
}

func (d *demo) killGauger() error {
	d.say(red, "the power goes: the agent is killed (SIGKILL) while two trucks load")
	d.downs = append(d.downs, span{from: time.Now()})
	dead := d.agent
	d.agent = nil
	return dead.kill()
}

func (d *demo) resume() error {
	d.say(yellow, "the power is back: the agent starts again")
	return d.launch()
}

func (d *demo) raiseTarget() error {
	d.site.target = 425
	d.targets = append(d.targets, d.site.target)
	d.say(plain, "the engineer sets the oil target to %.0f bbl a day", d.site.target)
	return nil
}

func (d *demo) cutLink() error {
	d.say(red, "the link to the service is down")
	return d.service.cut()
}

func (d *demo) restoreLink() error {
	d.say(yellow, "the link to the service is up again")
	return d.service.restore()
}

func (d *demo) batteryDrops() error {
	d.site.battery = 11.35
	d.alarms = append(d.alarms, alarm{rule: lowBattery, start: time.Now(), told: "battery low from " + d.site.now()})
	d.say(plain, "the RTU's battery drops to %.2f V", d.site.battery)
	return nil
}

func (d *demo) batteryRecovers() error {
	d.site.battery = 12.8
	a := &d.alarms[len(d.alarms)-1]
	a.end, a.told = time.Now(), a.told+" to "+d.site.now()
	d.say(plain, "the RTU's battery is at %.2f V again", d.site.battery)
	return nil
}

package main

import (
	"errors"
	"fmt"
	"time"
)

// trial is one measurement: the field, what polls it, and how long.
type trial struct {
	field  []stationSpec
	poller string // collector or floor
	how    launch
	load   load
	// url makes a URL of a line's address; nil: tcp.
	url    func(address string) string
	spread bool          // every device is behind the one address of the field, under a URL of its own
	settle time.Duration // after every unit was asked once
	window time.Duration
}

// outcome of a trial.
type outcome struct {
	lines  []lineReport
	self   pollReport
	used   usage // of the poller, in the window
	window time.Duration
}

// run measures.
func (t trial) run() (_ outcome, err error) {
	var addresses []string
	field, err := spawn(launch{}, "slave", t.field, &addresses)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, field.stop()) }()
	poller, err := spawn(t.how, t.poller, t.loadAt(addresses), &struct{}{})
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, poller.stop()) }()
	if err := awaitUnits(field, len(t.load.URLs)*t.load.Units, nil); err != nil {
		return outcome{}, err
	}
	time.Sleep(t.settle)
	o, err := window(field, poller.cmd.Process.Pid, t.window, func() error { return poller.tell(openWindow, &struct{}{}) })
	if err != nil {
		return outcome{}, err
	}
	return o, poller.tell(giveReport, &o.self)
}

// loadAt is the load with the field's addresses.
func (t *trial) loadAt(addresses []string) load {
	if t.spread {
		t.load.Dial = addresses[0]
		return t.load
	}
	t.load.URLs = nil
	for _, a := range addresses {
		if t.url == nil {
			a = "tcp://" + a
		} else {
			a = t.url(a)
		}
		t.load.URLs = append(t.load.URLs, a)
	}
	return t.load
}

// window opens a window everywhere, waits, and reads what was counted.
func window(field *child, pid int, length time.Duration, open func() error) (outcome, error) {
	before, err := usageOf(pid)
	if err := errors.Join(err, open(), field.tell(openWindow, &struct{}{})); err != nil {
		return outcome{}, err
	}
	time.Sleep(length)
	o := outcome{window: length}
	after, err := usageOf(pid)
	if err := errors.Join(err, field.tell(giveReport, &o.lines)); err != nil {
		return outcome{}, err
	}
	o.used = after.since(before)
	return o, nil
}

// startPatience limits the first round of everything.
const startPatience = 3 * time.Minute

// awaitUnits waits until so many units have been asked, or until who asks has ended.
func awaitUnits(field *child, units int, ended <-chan struct{}) error {
	for began := time.Now(); ; {
		var lines []lineReport
		if err := field.tell(giveReport, &lines); err != nil {
			return err
		}
		asked := 0
		for _, l := range lines {
			asked += len(l.Units)
		}
		if asked >= units {
			return nil
		}
		if time.Since(began) > startPatience {
			return fmt.Errorf("%d of %d units were asked within %s", asked, units, startPatience)
		}
		select {
		case <-ended:
			return fmt.Errorf("it ended by itself when %d of %d units were asked", asked, units)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// registers counts those that were asked for in the window.
func (o outcome) registers() int {
	sum := 0
	for _, l := range o.lines {
		sum += l.Registers
	}
	return sum
}

// perRegister is the CPU time for each register.
func (o outcome) perRegister() time.Duration {
	return o.used.CPU / time.Duration(max(1, o.registers()))
}

// missed counts the beats that passed without a request.
func (o outcome) missed() int {
	sum := 0
	for _, l := range o.lines {
		for _, u := range l.Units {
			sum += u.Missed
		}
	}
	return sum
}

// cores of the machine that the poller took.
func (o outcome) cores() float64 { return o.used.CPU.Seconds() / o.window.Seconds() }

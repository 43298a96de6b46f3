package main

import (
	"errors"
	"fmt"
	"time"
)

const (
	beat       = 25 * time.Millisecond // how often the site is looked at
	radioEvery = time.Minute           // of the site's time: how often the radio node checks in
	radioLeast = 100 * time.Millisecond
)

// world is everything around gauger: the well site, the devices through which it is seen, and the service. One
// goroutine owns it; what others want of it they ask for through the control endpoint.
type world struct {
	site    *site
	slave   *slave
	radio   *radio
	service *service
	checkIn time.Time // of the radio node, next
}

// addresses of the parts of a world; port 0 takes a free one.
type addresses struct {
	modbus, mqtt, service string
}

// loopback takes free ports.
var loopback = addresses{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"}

func newWorld(speed float64, at addresses) (*world, error) {
	w := &world{site: newSite(speed, time.Now())}
	var err error
	if w.slave, err = newSlave(at.modbus); err != nil {
		return nil, err
	}
	if w.radio, err = newRadio(at.mqtt); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if w.service, err = newService(at.service); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if _, err := w.tick(time.Now()); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// tick moves the site on to now and shows it to the devices.
func (w *world) tick(now time.Time) ([]happening, error) {
	out := w.site.advance(now)
	w.slave.show(w.site)
	if now.Before(w.checkIn) {
		return out, nil
	}
	w.checkIn = now.Add(max(radioLeast, time.Duration(float64(radioEvery)/w.site.speed)))
	return out, w.radio.publish(w.site.gauged(w.site.tanks[2]), now)
}

// close stops every part that runs.
func (w *world) close() error {
	var errs []error
	if w.service != nil {
		errs = append(errs, w.service.close())
	}
	if w.radio != nil {
		errs = append(errs, w.radio.close())
	}
	if w.slave != nil {
		errs = append(errs, w.slave.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop the simulated site: %w", err)
	}
	return nil
}

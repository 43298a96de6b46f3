// Package draft begins the configuration of a site: it asks a person what a file has to say (site.go, devices.go, brokers.go,
// tanks.go), offers what was found at the site, and writes a file with a word on each key (write.go). What is on the wire, and
// what the service knows, it is told by a Field.
//
// # Decisions
//
// The file is written as text and not printed from a Config: it holds what was answered, and a comment where a person goes on.
// Whether it is good is judged by config alone.
//
// A point of a template stays the template's; only what was answered about it is written over it.
package draft

import (
	"context"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
)

// Site is what the file will say.
type Site struct {
	Name, ID, Zone, Object      string
	URL, PrimaryKey, SecondKey  string // the keys as places: credential:primary-key
	Store                       string // empty: the usual
	Devices                     []*Device
	Tanks                       []Tank
	known                       []cloud.Device // of the service
	templatesTold, tanksOffered bool
}

// Device is one entry of the devices.
type Device struct {
	Name   string
	Keys   []string // lines of YAML before the points
	Points []*Point
	From   string // where the points come from, for a comment
}

// Point is one point of a device.
type Point struct {
	Name, Unit string
	Modbus     *modbus.Point
	Raw        string // as it is written, instead
	About      string
	OfTemplate bool // it is written only where something was answered about it
	changed    bool
}

// Tank is one tank. Its sizes stand as they were answered.
type Tank struct {
	ID, Level, Height, Diameter, Strapping, Sensor, Purchaser string
	Top, Gravity, BSW                                         string
	height                                                    tank.Length
}

// Unit is a unit id that answers.
type Unit struct {
	ID  int
	How string
}

// Guess is a way to read a register, with what it reads.
type Guess struct {
	Point modbus.Point
	Reads string
	Fits  bool
	Doubt string // why it may be half of another value
}

// Field is what can be found out at the site. A function that is nil finds nothing.
type Field struct {
	Scan    func(ctx context.Context, url, units string) ([]Unit, error)
	Probe   func(ctx context.Context, url string, unit, register int, input bool, gauge string) ([]Guess, error)
	Listen  func(ctx context.Context, broker Broker) ([]mqtt.Suggestion, error)
	Devices func(ctx context.Context, s *Site) ([]cloud.Device, error)
}

// Broker is how an MQTT broker is reached.
type Broker struct {
	URL, Username string
	Password      string // its place: file:/path or env:NAME; empty: none
}

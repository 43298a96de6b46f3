// Package draft begins the configuration of a site: it asks a person what a file has to say (draft.go, devices.go, brokers.go,
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
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/dialogue"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/maps"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// Site is what the file will say.
type Site struct {
	Name, ID, Zone, Object      string
	URL, PrimaryKey, SecondKey  string // the keys as places: credential:primary-key
	Store, CAFile               string // empty: the usual
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
	Top, Gravity, BSW, Product, Group, Interface              string
	height                                                    tank.Length
}

// Unit is a unit id that answers.
type Unit struct {
	ID  int
	How string
}

// Guess is a way to read a register, with what it reads.
type Guess struct {
	Point  modbus.Point
	Reads  string
	Fits   bool
	Doubt  string // why it may be half of another value
	HalfOf string // the float of which it takes a half for a whole value
}

// Field is what can be found out at the site. A function that is nil finds nothing.
type Field struct {
	Scan    func(ctx context.Context, url, units string) ([]Unit, error)
	Probe   func(ctx context.Context, url string, unit, register int, input bool, gauge, height string) ([]Guess, error)
	Listen  func(ctx context.Context, broker Broker) ([]mqtt.Suggestion, error)
	Devices func(ctx context.Context, s *Site) ([]cloud.Device, error)
}

// Broker is how an MQTT broker is reached.
type Broker struct {
	URL, Username string
	Password      string // its place: file:/path or env:NAME; empty: none
}

// Interview asks for everything.
type Interview struct {
	*dialogue.Dialogue
	Field
	MapBase  maps.Counting // of maps that do not say it
	Points   []string      // further points, as DEVICE/NAME,key=value,...
	ReadFile func(name string) ([]byte, error)
	// ReadTable reads a strapping table as the configuration will, from its own folder.
	ReadTable func(name string) ([]byte, error)
	site      Site
	again     bool // an answer was taken back
	looked    bool // the service was asked for its devices
}

// Run asks, and returns what was answered. Where an answer is taken back it goes through those before it again, and neither listens nor asks
// the service once more.
func (v *Interview) Run(ctx context.Context) (*Site, error) {
	s, err := v.ask(ctx)
	for errors.Is(err, dialogue.ErrBack) {
		v.Back()
		v.site, v.again = Site{known: v.site.known}, true
		s, err = v.ask(ctx)
	}
	return s, err
}

func (v *Interview) ask(ctx context.Context) (*Site, error) {
	for _, ask := range []func(context.Context) error{v.askSite, v.askService, v.askObject, v.askDevices, v.addPoints, v.askTanks} {
		if err := ask(ctx); err != nil {
			return nil, err
		}
	}
	return &v.site, nil
}

func (v *Interview) into(ctx context.Context, to *string, q dialogue.Question) (err error) {
	*to, err = v.Ask(ctx, q)
	return err
}

// oneOf is the check of a question that is answered with one of some words.
func oneOf(words ...string) func(string) (string, error) {
	return func(answer string) (string, error) {
		if !slices.Contains(words, answer) {
			last := len(words) - 1
			return "", errors.New(strings.Join(words[:last], ", ") + " or " + words[last])
		}
		return answer, nil
	}
}

// step asks when its turn comes.
func (v *Interview) step(ctx context.Context, to *string, q dialogue.Question) func() error {
	return func() error { return v.into(ctx, to, q) }
}

func (v *Interview) askSite(ctx context.Context) error {
	s := &v.site
	v.Say("The site. Ctrl-C loses no answer: the next `gauger init` goes on. To correct the answer before, type back.")
	if len(v.Kept) > 0 {
		v.Say("What was answered before is taken as it was: a flag (--service URL) goes over it, --fresh asks all again.")
	}
	return first(
		v.step(ctx, &s.Name, dialogue.Question{Key: "site", Flag: "--site", Text: "Name of the site, for people"}),
		func() error {
			return v.into(ctx, &s.ID, dialogue.Question{Key: "id", Flag: "--id", Text: "Short id for ticket numbers (A-Z 0-9 -, at most 12)", Default: suggestID(s.Name), Check: func(id string) (string, error) {
				if !config.SiteID.MatchString(id) {
					return "", errors.New("at most 12 of A-Z, 0-9 and -")
				}
				return id, nil
			}})
		},
		v.step(ctx, &s.Zone, dialogue.Question{Key: "zone", Flag: "--zone", Text: "Time zone, such as America/Chicago or America/Denver", Check: func(zone string) (string, error) {
			if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
				return "", fmt.Errorf("%q is no time zone; write one such as America/Chicago or America/Denver", zone)
			}
			return zone, nil
		}}),
	)
}

// first runs steps until one fails.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func suggestID(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToUpper(strings.ReplaceAll(name, " ", "-")))
	return strings.Trim(id[:min(12, len(id))], "-")
}

// askDevices asks for what is read, once more where that is nothing: a tank's level needs a point.
func (v *Interview) askDevices(ctx context.Context) error {
	for {
		if err := first(func() error { return v.askModbus(ctx) }, func() error { return v.askBrokers(ctx) }); err != nil || len(v.site.Devices) > 0 || len(v.Given)+len(v.Points) > 0 {
			return err
		}
		v.Say("\nNothing is read by this, and a tank's level needs a point: give a Modbus device or a broker; the same address asks for its registers again. Ctrl-C ends, and --fresh then asks all again.")
		delete(v.Kept, "modbus.1.url")
		delete(v.Kept, "mqtt.1.url")
	}
}

// serviceDoubted is where is kept that the service did not answer at its address, which is asked for again then.
const serviceDoubted = "service.doubted"

func (v *Interview) askService(ctx context.Context) error {
	s, was := &v.site, ""
	if v.Kept[serviceDoubted] != "" && !v.again {
		was = v.Kept["service"]
		delete(v.Kept, serviceDoubted)
		delete(v.Kept, "service")
	}
	v.Say("\nThe service. Keys never stand in the file: it names their place, which is credential:NAME (the file NAME in /etc/gauger, handed over by systemd), file:PATH or env:NAME.")
	return first(
		v.step(ctx, &s.URL, dialogue.Question{Key: "service", Flag: "--service", Text: "Address of the service, such as https://api.example.com", Default: was, Check: func(url string) (string, error) {
			if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
				return "", errors.New("begin with https://")
			}
			return strings.TrimRight(url, "/"), nil
		}}),
		v.step(ctx, &s.PrimaryKey, dialogue.Question{Key: "primary", Flag: "--primary-key", Text: "Place of the primary key", Default: "credential:primary-key", Check: checkPlace}),
		v.step(ctx, &s.SecondKey, dialogue.Question{Key: "secondary", Flag: "--secondary-key", Text: "Place of the secondary key, or none", Default: "credential:secondary-key", Check: func(place string) (string, error) {
			if place == "none" {
				return place, nil
			}
			return checkPlace(place)
		}}),
	)
}

// checkPlace reads where a secret is.
func checkPlace(place string) (string, error) {
	kind, name, _ := strings.Cut(place, ":")
	if name == "" || kind != "credential" && kind != "file" && kind != "env" {
		return "", errors.New("write credential:NAME (the file NAME in /etc/gauger), file:PATH or env:NAME")
	}
	return place, nil
}

// later is the answer of who does not know the site's device yet.
const later = "later"

// askObject offers the service's devices for the site. Without one the file is written all the same: it can be put in at any time, and
// devices are read, commissioned and hauled from without it. An answer of later is asked for again.
func (v *Interview) askObject(ctx context.Context) error {
	s := &v.site
	if v.Kept["object"] == "" && !v.again {
		delete(v.Kept, "object")
	}
	_, answered := v.Kept["object"]
	if _, given := v.Given["object"]; v.Field.Devices != nil && !v.looked {
		v.looked = true
		known, err := v.Field.Devices(ctx, s)
		if err != nil && ctx.Err() == nil {
			v.Say("The service's devices could not be read: %v", err)
			v.Say("Is %s wrong? Ctrl-C: the next `gauger init` asks for it again. Whoever keeps the service knows the GUID of the site's device. Enter goes on without it: put it into the file later.", s.URL)
			if err := v.Remember(serviceDoubted, "yes"); err != nil {
				return err
			}
		}
		s.known = known
		if !given && !answered {
			for i, d := range known {
				v.Say("  %2d  %s  %s  (external id %s)", i+1, d.Name, d.ID, d.ExternalID)
			}
		}
	}
	return v.into(ctx, &s.Object, dialogue.Question{Key: "object", Flag: "--object", Text: "The site's device there, a number or a GUID", Default: later, Check: func(answer string) (string, error) {
		if answer == later || answer == "none" {
			return "", nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(s.known) {
			answer = s.known[n-1].ID
		}
		if !config.GUID.MatchString(answer) {
			return "", fmt.Errorf("%q is no GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff, and no number of a list; ask whoever keeps the service, or write later", answer)
		}
		return answer, nil
	}})
}

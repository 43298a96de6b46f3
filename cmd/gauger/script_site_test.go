package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/rogpeppe/go-internal/testscript"

	"gauger/agent/cloud/cloudtest"
	"gauger/collectors/modbus/modbustest"
)

const (
	primaryKey   = "test-primary-key-0001"
	secondaryKey = "test-secondary-key-0002"
)

// siteYAML is the configuration of every script.
const siteYAML = `site: Test battery
id: TEST
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://SERVICE
  primary_key: {env: GAUGER_PRIMARY_KEY}
  secondary_key: {env: GAUGER_SECONDARY_KEY}
store: {path: store, max_bytes: 2MiB}
devices:
  - name: plc
    modbus: tcp://PLC
    every: 200ms
    timeout: 300ms
    points:
      - {name: level, holding: 100, type: float32, order: CDAB, unit: in, range: [0, 240]}
      - {name: top, holding: 102, type: int16, scale: 0.1, unit: degF}
      - {name: target, holding: 103, type: uint16}
      - {name: word, holding: 110, type: string, length: 2}
  - name: radio
    mqtt: mqtt://BROKER
    points:
      - {name: level, topic: field/tk2, value: level.in, time: ts, unit: in}
tanks:
  - id: TK-1
    level: plc/level
    sensor: radar
    height: 20ft
    strapping: [[0, 0], [240, 480]]
    purchaser: Acme Crude Gathering
    loads: {truck_max: 300}
`

// testSite is a site of its own for one script: the reference service, a PLC and a broker.
type testSite struct {
	store   *cloudtest.Service
	address string
	server  *http.Server
	slave   *modbustest.Slave
	plc     *modbustest.Server
	mqtt    *mochi.Server
	broker  string
}

func newTestSite() (*testSite, error) {
	s := &testSite{slave: modbustest.NewSlave(), store: &cloudtest.Service{
		PrimaryKey: primaryKey, SecondaryKey: secondaryKey, Conflict: true,
		Users: []cloudtest.User{{UserName: "ann", PasswordHash: "hash-of-ann", CustomerGUID: "c-1", Result: 7}},
	}}
	s.store.AddDevices(
		cloudtest.Device{ID: "1", Identifier: "RTU-1", Name: "Cooper 12-7", ExternalID: "X1", OrganizationID: "o", CommInfo: "radio"},
		cloudtest.Device{ID: "2", Identifier: "RTU-2", Name: "Cooper 12-8", ExternalID: "X2", OrganizationID: "o"},
		cloudtest.Device{ID: "3", Identifier: "RTU-3", Name: "Baker 1", ExternalID: "X3", OrganizationID: "p"},
	)
	bank := s.slave.Unit(1)
	bank.Strict(true)
	bank.SetFloat32(modbustest.Holding, 100, 171.25, modbustest.CDAB)
	bank.Set(modbustest.Holding, 102, 685, 412)
	bank.Set(modbustest.Holding, 110, 'O'<<8|'K', 0)
	var err error
	if s.plc, err = s.slave.Start("127.0.0.1:0", modbustest.TCP); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	return s, s.startBroker()
}

// listen lets the service answer, again at the same address after it was down.
func (s *testSite) listen() error {
	l, err := listenAgain(s.address)
	if err != nil {
		return err
	}
	s.address, s.server = l.Addr().String(), &http.Server{Handler: s.store}
	go s.server.Serve(l) //nolint:errcheck // it ends with close
	return nil
}

// startBroker serves MQTT with one retained message.
func (s *testSite) startBroker() error {
	s.mqtt = mochi.New(&mochi.Options{InlineClient: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := s.mqtt.AddHook(new(auth.AllowHook), nil); err != nil {
		return err
	}
	l := listeners.NewTCP(listeners.Config{ID: "t", Address: "127.0.0.1:0"})
	if err := s.mqtt.AddListener(l); err != nil {
		return err
	}
	if err := s.mqtt.Serve(); err != nil {
		return err
	}
	s.broker = l.Address()
	message := fmt.Sprintf(`{"level":{"in":55.5},"ts":%q}`, time.Now().UTC().Format(time.RFC3339))
	return s.mqtt.Publish("field/tk2", []byte(message), true, 1)
}

func (s *testSite) close() {
	err := errors.Join(s.server.Close(), s.plc.Close(), s.mqtt.Close())
	if err != nil {
		fmt.Fprintln(os.Stderr, "closing a script's site:", err)
	}
}

// serviceCmd is the script's hand at the service: service down | up | fault STATUS | unknown ID | answer BODY | lost | poison TEXT | well |
// forget TEXT | double TEXT (events with it) | stranger RULE TIME (an event of another's) |
// refuse primary|secondary|both|none | rotate | list NAME | page SIZE | got WHAT.
func (s *testSite) serviceCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: service WHAT")
	}
	arg := strings.Join(args[1:], " ")
	switch args[0] {
	case "down":
		ts.Check(s.server.Close())
	case "up":
		ts.Check(s.listen())
	case "fault":
		status, err := strconv.Atoi(arg)
		ts.Check(err)
		s.store.Adjust(func(c *cloudtest.Service) {
			c.Fault = func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{Status: status} }
		})
	case "poison":
		s.store.Adjust(func(c *cloudtest.Service) {
			c.Fault = func(call cloudtest.Call) *cloudtest.Fault {
				if strings.Contains(string(call.Body), arg) {
					return &cloudtest.Fault{Status: http.StatusBadRequest}
				}
				return nil
			}
		})
	case "unknown":
		s.store.Adjust(func(c *cloudtest.Service) {
			c.Fault = func(call cloudtest.Call) *cloudtest.Fault {
				if strings.Contains(call.Path, arg) {
					return &cloudtest.Fault{Status: http.StatusNotFound}
				}
				return nil
			}
		})
	case "answer":
		s.store.Adjust(func(c *cloudtest.Service) {
			c.Fault = func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{Status: http.StatusOK, Body: arg} }
		})
	case "lost":
		s.store.Adjust(func(c *cloudtest.Service) {
			c.Fault = func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{DropAfter: true} }
		})
	case "forget", "double":
		s.store.EditEvents(func(e cloudtest.Event) int {
			if !strings.Contains(string(e.Raw), arg) {
				return 1
			}
			return map[string]int{"double": 2}[args[0]]
		})
	case "stranger":
		at, err := time.Parse(time.RFC3339, args[2])
		ts.Check(err)
		s.store.AddEvents(cloudtest.Event{
			Type: "Diagnostic", Start: at, End: at, ObjectID: "6f9619ff-8b86-d011-b42d-00c04fc964ff", ObjectType: "Device", RuleName: args[1],
		})
	case "well":
		s.store.Adjust(func(c *cloudtest.Service) { c.Fault = nil })
	case "refuse":
		s.store.Adjust(func(c *cloudtest.Service) {
			c.RefusePrimary, c.RefuseSecondary = arg == "primary" || arg == "both", arg == "secondary" || arg == "both"
		})
	case "rotate":
		s.store.Adjust(func(c *cloudtest.Service) { c.Rotate = true })
	case "list":
		s.store.Adjust(func(c *cloudtest.Service) { c.ListName = arg })
	case "page":
		n, err := strconv.Atoi(arg)
		ts.Check(err)
		s.store.Adjust(func(c *cloudtest.Service) { c.MaxPage = n })
	case "got":
		s.got(ts, arg)
	default:
		ts.Fatalf("service %s?", args[0])
	}
}

// got prints what the service has.
func (s *testSite) got(ts *testscript.TestScript, what string) {
	out := ts.Stdout()
	switch what {
	case "tickets":
		for _, t := range s.store.Tickets() {
			fmt.Fprintf(out, "%s\n", t.Raw)
		}
	case "events":
		for _, e := range s.store.Events() {
			fmt.Fprintf(out, "%s\n", e.Raw)
		}
	case "tagvalues", "targets":
		all := s.store.TagValues()
		if what == "targets" {
			all = s.store.Targets()
		}
		for _, v := range all {
			fmt.Fprintf(out, "%s %s %d %s\n", v.ObjectID, v.Code, v.Value, v.Timestamp)
		}
	case "memos":
		for _, m := range s.store.Memos() {
			fmt.Fprintf(out, "%s %q %s\n", m.DeviceID, m.Text, m.Email)
		}
	case "calls":
		for _, c := range s.store.Calls() {
			path := c.Path
			if len(c.Query) > 0 {
				path += "?" + c.Query.Encode()
			}
			fmt.Fprintf(out, "%s %s %s %d [%s] %s %s\n", c.Op, c.Method, path, c.Status, c.Key, c.Header.Get("Content-Type"), c.Body)
		}
	default:
		ts.Fatalf("service got %s?", what)
	}
}

// retainCmd has the broker keep a message of 42 days ago: retain TOPIC TEXT, with THEN for its time.
func (s *testSite) retainCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: retain TOPIC TEXT")
	}
	text := strings.ReplaceAll(args[1], "THEN", time.Now().UTC().AddDate(0, 0, -42).Format(time.RFC3339))
	ts.Check(s.mqtt.Publish(args[0], []byte(text), true, 1))
}

// plcCmd is the script's hand at the PLC: plc silent | exception CODE | well | set ADDRESS VALUE.
func (s *testSite) plcCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: plc WHAT")
	}
	switch args[0] {
	case "silent":
		s.slave.SetFaults(modbustest.Fault{Silent: true})
	case "exception":
		code, err := strconv.ParseUint(args[1], 10, 8)
		ts.Check(err)
		s.slave.SetFaults(modbustest.Fault{Exception: byte(code)})
	case "well":
		s.slave.SetFaults()
	case "set":
		address, err1 := strconv.ParseUint(args[1], 10, 16)
		value, err2 := strconv.ParseUint(args[2], 10, 16)
		ts.Check(errors.Join(err1, err2))
		s.slave.Unit(1).Set(modbustest.Holding, uint16(address), uint16(value))
	default:
		ts.Fatalf("plc %s?", args[0])
	}
}

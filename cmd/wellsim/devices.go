package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"

	"gauger/collectors/modbus/modbustest"
)

// radioTopic of the gateway's tank.
const radioTopic = "field/tk3"

// radio is an MQTT broker and the gateway of a radio network that publishes one tank's level there.
type radio struct {
	broker   *mqtt.Server
	addr     string
	sequence int
}

// sample is the gateway's payload.
type sample struct {
	Time     int64 `json:"ts"` // the node's own clock, milliseconds since 1970
	Sequence int   `json:"seq"`
	Level    struct {
		In float64 `json:"in"`
	} `json:"level"`
	Battery float64 `json:"battery_v"`
}

// newRadio starts the broker.
func newRadio(listen string) (*radio, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for MQTT: %w", err)
	}
	capabilities := mqtt.NewDefaultServerCapabilities()
	capabilities.Compatibilities.PassiveClientDisconnect = true
	broker := mqtt.New(&mqtt.Options{InlineClient: true, Capabilities: capabilities, Logger: slog.New(slog.DiscardHandler)})
	if err := broker.AddHook(new(auth.AllowHook), nil); err != nil {
		return nil, fmt.Errorf("let everyone in to the broker: %w", err)
	}
	if err := broker.AddListener(listeners.NewNet("field", l)); err != nil {
		return nil, fmt.Errorf("add the listener to the broker: %w", err)
	}
	if err := broker.Serve(); err != nil {
		return nil, fmt.Errorf("start the broker: %w", err)
	}
	return &radio{broker: broker, addr: l.Addr().String()}, nil
}

// publish sends one level, in inches, as the node measured it at that time.
func (r *radio) publish(level float64, at time.Time) error {
	r.sequence++
	s := sample{Time: at.UnixMilli(), Sequence: r.sequence, Battery: 3.61}
	s.Level.In = math.Round(level*100) / 100
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the radio's sample: %w", err)
	}
	if err := r.broker.Publish(radioTopic, b, true, 1); err != nil {
		return fmt.Errorf("publish on %s: %w", radioTopic, err)
	}
	return nil
}

// close stops the broker and hangs up its clients.
func (r *radio) close() error {
	if err := r.broker.Close(); err != nil {
		return fmt.Errorf("stop the broker: %w", err)
	}
	return nil
}

// slaveUnit is the PLC's unit id; what it holds in which holding register (zero-based) follows.
const (
	slaveUnit  = 1
	regTank1   = 100 // float32 CDAB, inches
	regTank2   = 102
	regTemp1   = 110 // int16, tenths of degF
	regTemp2   = 111
	regTarget  = 200 // uint16, barrels a day
	regBattery = 300 // uint16, hundredths of a volt
	regStatus  = 301 // bits: 0 mains, 3 charger
)

// slave is the battery's PLC: a Modbus TCP slave that shows the first two tanks and the device's own figures.
type slave struct {
	modbus *modbustest.Slave
	bank   *modbustest.Bank
	addr   string
	stop   context.CancelFunc
	ended  chan error
}

func newSlave(listen string) (*slave, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for Modbus: %w", err)
	}
	s := &slave{modbus: modbustest.NewSlave(), addr: l.Addr().String(), ended: make(chan error, 1)}
	s.bank = s.modbus.Unit(slaveUnit)
	s.bank.Strict(true)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.ended <- s.modbus.Serve(ctx, l, modbustest.TCP) }()
	return s, nil
}

// show puts the site's state into the registers.
func (s *slave) show(x *site) {
	s.bank.SetFloat32(modbustest.Holding, regTank1, float32(x.gauged(x.tanks[0])), modbustest.CDAB)
	s.bank.SetFloat32(modbustest.Holding, regTank2, float32(x.gauged(x.tanks[1])), modbustest.CDAB)
	s.bank.Set(modbustest.Holding, regTemp1, uint16(int16(math.Round(x.tanks[0].temperature()*10))))
	s.bank.Set(modbustest.Holding, regTemp2, uint16(int16(math.Round(x.tanks[1].temperature()*10))))
	s.bank.Set(modbustest.Holding, regTarget, uint16(math.Round(x.target)))
	s.bank.Set(modbustest.Holding, regBattery, uint16(math.Round(x.battery*100)))
	s.bank.Set(modbustest.Holding, regStatus, x.status)
}

// temperature of the oil in degF: it follows the day.
func (t *stock) temperature() float64 {
	return 71 + 6*math.Sin(2*math.Pi*(t.Now().Hours()-3)/24)
}

func (s *slave) close() error {
	s.stop()
	if err := <-s.ended; err != nil {
		return fmt.Errorf("stop the PLC: %w", err)
	}
	return nil
}

package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
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

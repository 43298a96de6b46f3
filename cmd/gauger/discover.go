package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"gauger/collectors/mqtt"
	"gauger/config"
)

// discoveredTopic is one topic, with the names that a program reads.
type discoveredTopic struct {
	Topic    string            `json:"topic"`
	Messages int               `json:"messages"`
	Retained bool              `json:"retained"`
	Every    float64           `json:"every_seconds,omitempty"`
	Sample   string            `json:"sample"`
	Points   []discoveredPoint `json:"points"`
}

type discoveredPoint struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Node   string `json:"sparkplug,omitempty"`
	Metric string `json:"metric,omitempty"`
	Time   string `json:"time,omitempty"`
	Sample string `json:"sample"`
}

type discoverMQTTOptions struct {
	span     time.Duration
	filter   string
	broker   mqtt.Device
	password config.Secret
}

func discoverMQTTCommand(c *call) *cobra.Command {
	o := &discoverMQTTOptions{}
	cmd := newCommand(c, "mqtt URL|DEVICE [--for 30s]", "what a broker's topics hold, and the lines that would read it", o.run)
	f := cmd.Flags()
	f.DurationVar(&o.span, "for", 30*time.Second, "how `LONG` to listen")
	f.StringVar(&o.filter, "topic", "#", "`FILTER` of the topics to listen to")
	o.broker.Name = "broker"
	f.StringVar(&o.broker.Username, "username", "", "user `NAME` at the broker")
	f.StringVar(&o.password.File, "password-file", "", "`FILE` that holds the password")
	f.StringVar(&o.password.Env, "password-env", "", "environment `VARIABLE` that holds the password")
	f.StringVar(&o.broker.CAFile, "ca-file", "", "PEM `FILE` of the authorities that may sign the broker's certificate")
	f.StringVar(&o.broker.CertFile, "cert-file", "", "PEM `FILE` of the client certificate")
	f.StringVar(&o.broker.KeyFile, "key-file", "", "PEM `FILE` of its key")
	f.StringVar(&o.broker.Server, "server-name", "", "`NAME` in the broker's certificate, when it is another than in the address")
	return cmd
}

func (o *discoverMQTTOptions) run(ctx context.Context, c *call, args []string) error {
	if len(args) != 1 || o.span <= 0 {
		return usageError{"discover mqtt wants a broker, such as mqtt://10.20.0.9, or the name of a configured device, and --for longer than zero"}
	}
	o.broker.Brokers = mqtt.Brokers{args[0]}
	dev := config.NewMQTT(o.broker, o.password)
	if !strings.Contains(args[0], "://") {
		var err error
		dev, err = configuredBroker(c, args[0])
		if err != nil && strings.ContainsAny(args[0], ".:") {
			return usageError{fmt.Sprintf("%s is no broker's address as it stands: write mqtt://%s, or mqtts:// where it wants TLS", args[0], args[0])}
		}
		if err != nil {
			return err
		}
	}
	broker := config.Options[mqtt.Device](dev)
	for _, p := range broker.Check() {
		if p.Path == "points" {
			continue
		}
		if strings.Contains(args[0], "://") { // in the words of the command line
			p.Path = either(p.Path == "mqtt", "the address", "--"+strings.ReplaceAll(p.Path, "_", "-"))
			p.Message = brokerFlags.Replace(p.Message)
		}
		return usageError{p.Path + ": " + p.Message}
	}
	fmt.Fprintf(c.err, "listening to %s at %s for %s; Ctrl-C ends it sooner\n", o.filter, strings.Join(broker.Brokers, " or "), o.span)
	ctx, cancel := context.WithTimeout(ctx, o.span)
	defer cancel()
	all, more, err := mqtt.Discover(ctx, *broker, o.filter, mqtt.Session{})
	if len(all) == 0 && err != nil {
		return withPortHint(err)
	}
	return errors.Join(printDiscovered(c, dev, all, more), err)
}

// brokerFlags are the flags of what a configuration has as keys.
var brokerFlags = strings.NewReplacer("the keys username and password", "--username, and --password-file or --password-env",
	"ca_file", "--ca-file", "cert_file", "--cert-file", "key_file", "--key-file", "server_name", "--server-name")

// configuredBroker is the named device of the configuration.
func configuredBroker(c *call, name string) (config.Device, error) {
	cfg, err := config.Load(c.config)
	if err != nil {
		return config.Device{}, asConfigError(err)
	}
	var names []string
	for _, d := range cfg.Devices {
		if config.Options[mqtt.Device](d) == nil {
			continue
		}
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return config.Device{}, usageError{fmt.Sprintf("%q is neither a broker's address, such as mqtt://10.20.0.9, nor an MQTT device of %s (those are: %s)", name, c.config, strings.Join(names, ", "))}
}

func printDiscovered(c *call, dev config.Device, all []mqtt.Heard, more int) error {
	taken := map[string]bool{}
	var topics []discoveredTopic
	var points [][]mqtt.Suggestion
	for _, h := range all {
		found := h.Suggest()
		d := discoveredTopic{Topic: h.Topic, Messages: h.Messages, Retained: h.Retained, Every: h.Every().Seconds(), Sample: payloadText(h.Payload), Points: []discoveredPoint{}}
		for i := range found {
			p := &found[i].Point
			p.Name = uniqueName(p.Name, taken)
			d.Points = append(d.Points, discoveredPoint{p.Name, p.Value, p.Sparkplug, p.Metric, p.Time, found[i].Sample})
		}
		topics, points = append(topics, d), append(points, found)
	}
	switch {
	case c.json():
		return printJSON(c.out, append([]discoveredTopic{}, topics...))
	case len(all) == 0:
		return printf(c.out, "# nothing was heard; listen longer (--for), or ask for other topics (--topic)\n")
	}
	err := writeDiscovered(verbatim(c.out), dev, topics, points)
	if more > 0 {
		err = errors.Join(err, printf(c.out, "# and %s on further topics; name a narrower --topic\n", countText(more, "message")))
	}
	return err
}

// writeDiscovered prints a device that a configuration can take over as it stands; everything else is a comment.
func writeDiscovered(w io.Writer, dev config.Device, topics []discoveredTopic, points [][]mqtt.Suggestion) error {
	indent := ""
	if slices.ContainsFunc(points, func(p []mqtt.Suggestion) bool { return len(p) > 0 }) {
		lines, err := config.Lines(dev)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, "# Take what you need into the configuration; give each point a unit, a range, and a name that people know.")
		fmt.Fprintf(w, "devices:\n  - %s\n    points:\n", strings.Join(lines, "\n    "))
		indent = "      "
	}
	for i, t := range topics {
		if _, err := fmt.Fprintf(w, "%s# %s: %s%s\n", indent, oneLine(t.Topic), publicationText(t), t.Sample); err != nil {
			return err
		}
		switch {
		case len(points[i]) > 0:
		case (mqtt.Heard{Topic: t.Topic}).Sparkplug():
			fmt.Fprintf(w, "%s#   Sparkplug B: the points stand at the births of the node (NBIRTH, DBIRTH)\n", indent)
		default:
			fmt.Fprintf(w, "%s#   no number in it\n", indent)
		}
		for _, p := range points[i] {
			line, err := config.Line(p.Point)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s- %s   # %s\n", indent, line, oneLine(p.Sample))
		}
	}
	return nil
}

func publicationText(t discoveredTopic) string {
	every := time.Duration(t.Every * float64(time.Second))
	return countText(t.Messages, "message") + when(t.Retained, ", kept by the broker") + when(t.Every > 0, ", every "+durationText(every)) + ": "
}

// payloadText is a payload on one line: as text, or as hexadecimal digits.
func payloadText(payload []byte) string {
	const most = 200
	if utf8.Valid(payload) && !slices.ContainsFunc(payload, func(b byte) bool { return b < ' ' && b != '\n' && b != '\r' && b != '\t' }) {
		text := []rune(strings.Join(strings.Fields(string(payload)), " "))
		return string(text[:min(len(text), most)]) + when(len(text) > most, "...")
	}
	return fmt.Sprintf("hex %x", payload[:min(len(payload), most/2)]) + when(len(payload) > most/2, "...")
}

// uniqueName is a name that no other point has yet.
func uniqueName(name string, taken map[string]bool) string {
	fresh := name
	for n := 2; taken[fresh]; n++ {
		fresh = fmt.Sprintf("%s-%d", name, n)
	}
	taken[fresh] = true
	return fresh
}

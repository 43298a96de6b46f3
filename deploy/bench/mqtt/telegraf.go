package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// telegrafTOML asks for what gauger's site does: each message once at the service, none acknowledged before.
const telegrafTOML = `[agent]
  interval = "1s"
  flush_interval = "1s"
  metric_batch_size = 1000
  metric_buffer_limit = 100000
  omit_hostname = true
  quiet = true
[[inputs.mqtt_consumer]]
  servers = ["tcp://BROKER"]
  topics = ["bench/n"]
  qos = 1
  client_id = "telegraf"
  persistent_session = true
  max_undelivered_messages = 1000
  data_format = "json"
  json_time_key = "ts"
  json_time_format = "unix_ms"
[[outputs.http]]
  url = "http://SINK"
  data_format = "json"
`

// startTelegraf starts a Telegraf that posts what it hears.
func startTelegraf(ctx context.Context, program, dir, broker string) (*consumer, error) {
	sink, err := startSink(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "telegraf.conf")
	text := strings.NewReplacer("BROKER", broker, "SINK", sink.address).Replace(telegrafTOML)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	c := &consumer{cmd: exec.CommandContext(ctx, program, "--config", file), said: &bytes.Buffer{}}
	c.cmd.Stdout, c.cmd.Stderr = c.said, c.said
	c.count = func() int { return int(sink.records.Load()) }
	c.ready = func() bool { return c.count() > 0 || feed(broker, 1) == nil && c.count() > 0 }
	return c, c.cmd.Start()
}

// sink is a service that takes everything, and counts the records by a key that each has once.
type sink struct {
	address string
	records atomic.Int64
}

func startSink(ctx context.Context) (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{address: l.Addr().String()}
	context.AfterFunc(ctx, func() { _ = l.Close() })                                 // the round is over
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck // it ends with the listener
		body, _ := io.ReadAll(r.Body) // what cannot be read does not count
		s.records.Add(int64(bytes.Count(body, []byte(`"timestamp"`))))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	return s, nil
}

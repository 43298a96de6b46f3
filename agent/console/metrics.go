package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
)

// Page is what http.listen serves: /metrics for Prometheus, and a page, which takes forms or only shows. Few metrics are written at
// a time, and while some go out over a slow line the next are written.
func Page(server *control.Server, page http.Handler, forms bool, listen string, hosts ...string) http.Handler {
	mux, work := http.NewServeMux(), make(chan struct{}, pagesAtWork)
	mux.Handle("/", page)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		text, status, err := written(r.Context(), work, server, r.FormValue("names") == "old")
		if err != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(text) // a client that has gone away is nobody's loss
	})
	return guard(pageNames(listen, hosts), forms, server.DenyHost, mux)
}

// written waits for its turn and writes the metrics down; old: with the names that go with the next version. The HTTP status goes
// with an error.
func written(ctx context.Context, work chan struct{}, server *control.Server, old bool) ([]byte, int, error) {
	turn := time.NewTimer(pageTurn)
	defer turn.Stop()
	select {
	case work <- struct{}{}:
		defer func() { <-work }()
	case <-turn.C:
		return nil, http.StatusServiceUnavailable, errors.New("the metrics are asked for more often than they can be written; try again in a moment")
	case <-ctx.Done():
		return nil, http.StatusServiceUnavailable, ctx.Err()
	}
	s, err := server.Status()
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	m := metrics{}
	m.site(s)
	m.store(s)
	m.readings(s)
	m.box(s)
	m.put("gauger_clock_doubt_seconds", server.Clock.Deviation(s.Now).Seconds())
	if server.Client != nil {
		m.keys(server.Client.Keys().Status())
	}
	return m.text(old), 0, nil
}

// metrics are samples in Prometheus' text format, by their names. What nobody knows has no sample: a 0 would be taken for a figure.
type metrics map[string]*bytes.Buffer

// put adds a sample; labels are names and values in turn.
func (m metrics) put(name string, value float64, labels ...string) {
	b := m[name]
	if b == nil {
		b = &bytes.Buffer{}
		m[name] = b
	}
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(labels[i] + `="` + labelText.Replace(strings.ToValidUTF8(labels[i+1], "?")) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte(' ')
	b.Write(strconv.AppendFloat(b.AvailableBuffer(), value, 'g', -1, 64))
	b.WriteByte('\n')
}

// labelText writes a label's value as the format wants it, which knows three escapes and no others.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// putTime adds a time that is known.
func (m metrics) putTime(name string, at time.Time, labels ...string) {
	if !at.IsZero() {
		m.put(name, float64(at.UnixMilli())/1000, labels...)
	}
}

// putOne adds a sample for each of some words: 1 for the one that it is.
func (m metrics) putOne(name, is string, words []string, label string, labels ...string) {
	for _, word := range words {
		m.put(name, bit(word == is), append([]string{label, word}, labels...)...)
	}
}

// bit is how Prometheus has a yes.
func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (m metrics) text(old bool) []byte {
	var b bytes.Buffer
	for _, f := range families {
		if m[f.name] == nil || !old && strings.HasPrefix(f.help, deprecated) {
			continue
		}
		kind := "gauge"
		if strings.HasSuffix(f.name, "_total") {
			kind = "counter"
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, kind, m[f.name])
	}
	return b.Bytes()
}

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// progress tells a person how far the search is: on a terminal in one line that is written again and again, else in
// a line every few seconds. What answers is told at once.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal io.Writer // out without a look at what is written; nil: it is no terminal
	asks     scanRequest
	urls     []string
	all      int // requests
	most     time.Duration
	began    time.Time
	told     time.Time
	found    []unitFound
}

// progressEvery between two lines of progress where there is no terminal.
const progressEvery = 5 * time.Second

func newProgress(c *call, a scanRequest, urls []string) *progress {
	p := &progress{out: c.err, asks: a, urls: urls, all: len(urls) * len(a.Units)}
	for _, url := range urls {
		p.most += a.search().MaxDuration(url)
	}
	if l, ok := c.err.(*unsteered); ok {
		if file, ok := l.to.(*os.File); ok {
			if _, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS); err == nil {
				p.terminal = file
			}
		}
	}
	return p
}

func (p *progress) begin() {
	p.began = time.Now()
	p.told = p.began
	where := p.asks.URL
	if len(p.urls) > 1 {
		where += fmt.Sprintf(" at %d settings", len(p.urls))
	}
	fmt.Fprintf(p.out, "asking %s on %s; at most %s\n", countText(len(p.asks.Units), "unit"), where, rounded(p.most))
}

// unitDone takes what one unit did.
func (p *progress) unitDone(f unitFound) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = append(p.found, f)
	if f.Answers || f.Damaged {
		p.wipe()
		what := "answers"
		if f.Damaged {
			what = "answers damaged"
		}
		fmt.Fprintf(p.out, "unit %d %s%s\n", f.Unit, what, p.settingText(f))
	}
	now := time.Now()
	switch {
	case p.terminal != nil:
		p.wipe()
		fmt.Fprint(p.out, p.text(f, now))
	case now.Sub(p.told) >= progressEvery:
		p.told = now
		fmt.Fprintln(p.out, p.text(f, now))
	}
	return nil
}

// text says where the search is, and how long it still takes if it goes on as it went until now.
func (p *progress) text(f unitFound, now time.Time) string {
	done := len(p.found)
	left := time.Duration(float64(now.Sub(p.began)) / float64(done) * float64(p.all-done))
	return fmt.Sprintf("%d of %d%s, unit %d, about %s still", done, p.all, p.settingText(f), f.Unit, rounded(left))
}

// settingText names the setting, where there are several.
func (p *progress) settingText(f unitFound) string {
	if len(p.urls) < 2 {
		return ""
	}
	_, query, _ := strings.Cut(f.URL, "?")
	return " at " + strings.ReplaceAll(query, "&", " ")
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return max(d.Round(100*time.Millisecond), 100*time.Millisecond)
	}
	return d.Round(time.Second)
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *progress) wipe() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\033[K")
	}
}

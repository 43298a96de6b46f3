package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"gauger/agent/control"
)

// Client asks a running daemon through its socket.
type Client struct {
	Site  string // id of the site that answers; empty: of an earlier version
	Means string // id of the site that the person means, where it is another: then nothing is changed

	path string
	http *http.Client
}

// siteHeader of a request names the site that is meant, and of an answer the one that answers.
const siteHeader = "Gauger-Site"

// ErrNoDaemon says that nobody answers on the socket.
var ErrNoDaemon = errors.New("no gauger is running")

// answerLimit is how long a daemon may take to answer anything at all. It needs no disk and no lock for that.
const answerLimit = 4 * time.Second

// Dial finds the daemon behind the socket, or returns ErrNoDaemon. One that is stopped or hangs is an error too: the kernel
// takes calls for it, and a request would wait for ever.
func Dial(path string) (*Client, error) { return dial(path, answerLimit) }

func dial(path string, limit time.Duration) (*Client, error) {
	c, err := net.DialTimeout("unix", path, 2*time.Second)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("ask the running gauger on %s: %w; be in the group gauger, or use sudo", path, err)
		}
		return nil, fmt.Errorf("%w on %s", ErrNoDaemon, path)
	}
	c.Close()
	call := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	client := &Client{path: path, http: &http.Client{Transport: &http.Transport{DialContext: call, DisableKeepAlives: true, MaxResponseHeaderBytes: headBytes}}}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gauger/", nil)
	if err != nil {
		return nil, fmt.Errorf("ask the running gauger: %w", err)
	}
	answer, err := client.http.Do(r) // that there is nothing at / is an answer
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the gauger on %s was called and has not answered for %s: it is stopped or hangs, or it works and has no file descriptor left for an answer; `systemctl status gauger` shows it, `systemctl restart gauger` starts it again, which loses nothing", path, limit)
	case err != nil:
		if c, err := net.DialTimeout("unix", path, 2*time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("the gauger on %s hung up: it may have as many commands as it takes, or be ending; try again in a moment", path)
		}
		return nil, fmt.Errorf("%w on %s: it has just ended", ErrNoDaemon, path)
	}
	answer.Body.Close()
	client.Site = answer.Header.Get(siteHeader)
	return client, nil
}

// mostAnswer is the longest answer that is read, and the longest thing of a feed, in bytes: what is at the socket may be no gauger.
const mostAnswer = 64 << 20

// answers are read one by one, none beyond its limit.
type answers struct {
	limit io.LimitedReader
	*json.Decoder
}

func readAnswers(from io.Reader) *answers {
	a := &answers{limit: io.LimitedReader{R: from}}
	a.Decoder = json.NewDecoder(&a.limit)
	return a
}

func (a *answers) next(into any) error {
	a.limit.N = mostAnswer
	err := a.Decode(into)
	if err != nil && a.limit.N <= 0 {
		return fmt.Errorf("it goes on behind %d MB, which no gauger says; is another program at the socket?", mostAnswer>>20)
	}
	return err
}

// Call sends a request and reads the result into result, which may be nil.
func (c *Client) Call(ctx context.Context, name string, args, result any) error {
	answer, err := c.post(ctx, url.PathEscape(name), args)
	if err != nil {
		return err
	}
	defer answer.Close()
	var a Answer
	if err := readAnswers(answer).next(&a); err != nil {
		return fmt.Errorf("read what the running gauger answered: %w", err)
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.Result, result)
}

// post sends a request to the socket; whoever gets the answer closes it.
func (c *Client) post(ctx context.Context, path string, args any) (answer io.ReadCloser, err error) {
	body, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("write down the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gauger/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the running gauger: %w", err)
	}
	r.Header.Set(siteHeader, c.Means)
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the running gauger on %s: %w", c.path, err)
	}
	return resp.Body, nil
}

// Follow calls see with each thing of a feed until it is over. The error is the feed's, see's, or the context's.
func (c *Client) Follow(ctx context.Context, feed string, args any, see func(json.RawMessage) error) error {
	answer, err := c.post(ctx, "follow/"+url.PathEscape(feed), args)
	if err != nil {
		return err
	}
	defer answer.Close()
	answers := readAnswers(answer)
	for {
		var a Answer
		if err := answers.next(&a); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the running gauger went away: %w", err)
		}
		switch {
		case a.Error != "":
			return errors.New(a.Error)
		case a.Over:
			return nil
		}
		if err := see(a.Result); err != nil {
			return err
		}
	}
}

// Watch calls see with each reading until ctx ends; see's error ends it too.
func (c *Client) Watch(ctx context.Context, points []string, see func(control.PointReading) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gauger/watch?"+url.Values{"point": points}.Encode(), nil)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("watch through the running gauger: %w", err)
	}
	defer resp.Body.Close()
	lines := readAnswers(resp.Body)
	if resp.StatusCode != http.StatusOK {
		var a Answer
		if err := lines.next(&a); err != nil || a.Error == "" {
			return fmt.Errorf("watch through the running gauger: it answers %s", resp.Status)
		}
		return errors.New(a.Error)
	}
	for {
		var s control.PointReading
		if err := lines.next(&s); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the running gauger went away: %w", err)
		}
		if err := see(s); err != nil {
			return err
		}
	}
}

// PID is the process that listens on a socket, whether it answers or not; 0: nobody does, or nobody can tell.
func PID(path string) int {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return 0
	}
	defer c.Close()
	return peer(c).PID
}

package agent

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// garbage: what is no answer, made by chance and by hand.
func garbage(seed uint64) (all []scene) {
	texts := []string{"\r\n", "\x00\x01\x02", "HTTP", "<html>no head</html>", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail ready\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 two OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 600 X\r\n\r\n",
		"HTTP/1.1 999 X\r\n\r\n", "HTTP/x.y 200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "ICY 200 OK\r\n\r\n", " HTTP/1.1 200 OK\r\n\r\n",
		head(200, "Content-Length: -1"), head(200, "Content-Length: 1", "Content-Length: 2") + "xx", head(200, "Transfer-Encoding: nonsense"), head(200, "no colon"),
		head(200, "Content-Length: 99999999999999999999"), head(200, "Transfer-Encoding: chunked") + "zz\r\n", head(200, "Content-Encoding: gzip") + "no gzip",
		head(200, "Content-Length: 50") + "short", head(200, "Content-Length: 2") + "longer than it says", head(400, "Content-Length: 1") + "{\"message\":1}"}
	rng := rand.New(rand.NewPCG(seed, 99))
	for range 150 {
		b := make([]byte, rng.IntN(300))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		texts = append(texts, string(b))
	}
	for range 300 {
		b := []byte(answerOf([]int{200, 204, 400, 401, 413, 503}[rng.IntN(6)], rng.IntN(5)))
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		texts = append(texts, string(b))
	}
	for i, text := range texts {
		stored := twoHundred.MatchString(text) || interim.MatchString(text)
		all = append(all, scene{what: fmt.Sprintf("garbage %q", text), stream: fiveStreams[i%5], plain: i%2 == 0, socket: i%3 == 0, hasty: true,
			answers: []script{say(text)}, allowed: func(_ int, c outbox.Class) bool { return stored || c != outbox.Stored }})
	}
	return all
}

// kept: a connection that is used again ends, or says something, before, within or after the next request.
func kept() (all []scene) {
	add := func(what string, sc scene) {
		for i, stream := range fiveStreams {
			sc.what, sc.stream, sc.warm, sc.hasty, sc.plain, sc.socket = "kept connection: "+what, stream, true, true, i%2 == 0, i > 2
			if sc.answers == nil {
				sc.answers = []script{say(""), say("")}
			}
			sc.allowed = only(outbox.Stored, outbox.Ambiguous, outbox.Wait) // Wait: what was said unasked, if it comes late enough
			all = append(all, sc)
		}
	}
	for _, n := range []int{0, 1, 20, 200, 400} {
		add(fmt.Sprintf("it ends after at most %d bytes of the next request", n), scene{idle: func(c net.Conn) { c.Read(make([]byte, n)) }})
	}
	for _, text := range []string{"x", head(408, "Connection: close"), head(500, "Content-Length: 0"), strings.Repeat("x", 3000)} {
		add(fmt.Sprintf("it says %.30q unasked", text), scene{idle: func(c net.Conn) { say(text)(c) }})
	}
	add("it ends when the next request was read", scene{})
	add("it ends in the middle of the next answer", scene{answers: []script{say(""), say(soundAnswer[:20])}})
	return all
}

// trust: certificates and handshakes that must not be trusted, and such that do not come to an end.
func trust() (all []scene) {
	show := func(pick func(certificates) tls.Certificate, change ...func(*tls.Config)) func(certificates) *tls.Config {
		return func(c certificates) *tls.Config {
			config := &tls.Config{Certificates: []tls.Certificate{pick(c)}}
			for _, f := range change {
				f(config)
			}
			return config
		}
	}
	sound := func(c certificates) tls.Certificate { return c.sound }
	add := func(what string, sc scene) {
		for i, stream := range fiveStreams {
			sc.what, sc.stream, sc.hasty, sc.answers = what, stream, sc.early == nil, []script{say(soundAnswer)}
			sc.socket = sc.hasty && i == 4
			if sc.allowed == nil {
				sc.allowed = only(outbox.Wait)
			}
			all = append(all, sc)
		}
	}
	add("an expired certificate", scene{tls: show(func(c certificates) tls.Certificate { return c.expired })})
	add("a certificate of the future", scene{tls: show(func(c certificates) tls.Certificate { return c.early })})
	add("a certificate for another name", scene{tls: show(func(c certificates) tls.Certificate { return c.misnamed })})
	add("a foreign certificate", scene{tls: show(func(c certificates) tls.Certificate { return c.foreign })})
	add("a self-signed certificate", scene{tls: show(func(c certificates) tls.Certificate { return c.self })})
	add("an authority that this box does not know", scene{tls: show(sound), alien: true})
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		add(tls.VersionName(version), scene{tls: show(sound, func(c *tls.Config) { c.MinVersion, c.MaxVersion = version, version })})
	}
	add("a client certificate is wanted", scene{tls: show(sound, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), allowed: only(outbox.Wait, outbox.Ambiguous)})
	portal := "HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\nContent-Length: 0\r\n\r\n"
	for _, text := range []string{"", portal, head(200, "Content-Type: text/html") + "<html>log in</html>", "\x15\x03\x03\x00\x02\x02\x28", strings.Repeat("\x16\x03\x01", 99)} {
		add(fmt.Sprintf("no TLS but %.20q", text), scene{early: func(c net.Conn) { c.Read(make([]byte, 1000)); say(text)(c) }})
	}
	add("no TLS but silence", scene{early: hold})
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for at := range 1500 {
			all = append(all, scene{what: fmt.Sprintf("%s ends after %d bytes of the service", tls.VersionName(version), at), stream: fiveStreams[at%5], hasty: true, socket: at%7 == 0,
				answers: []script{say(soundAnswer)}, tls: show(sound, func(c *tls.Config) { c.MinVersion, c.MaxVersion = version, version }),
				wire: func(c net.Conn) net.Conn { return &cutter{c, at} }, allowed: only(outbox.Wait, outbox.Ambiguous, outbox.Stored)})
		}
	}
	return all
}

// ways: redirects, wishes to wait, and answers that depend on those before.
func ways() (all []scene) {
	for status := 300; status <= 308; status++ {
		for i, where := range []string{"http://portal.example/", "https://127.0.0.2/", "//127.0.0.2/", "/elsewhere"} {
			all = append(all, scene{what: fmt.Sprint(status, " to ", where), stream: fiveStreams[status%5], plain: i%2 == 0, hasty: true,
				answers: []script{say(head(status, "Location: "+where, "Content-Length: 0"))}, allowed: only(outbox.Path)})
		}
	}
	date := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, wish := range []struct {
		header string
		wait   time.Duration
	}{
		{"Retry-After: 7", 7 * time.Second}, {"Retry-After: 0", time.Second}, {"Retry-After: -3", time.Second}, {"Retry-After: 99999999", time.Hour},
		{"Date: " + date.Format(http.TimeFormat) + "\r\nRetry-After: " + date.Add(90*time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Date: " + date.Format(http.TimeFormat) + "\r\nRetry-After: " + date.Add(-time.Hour).Format(http.TimeFormat), time.Second},
	} {
		for _, status := range []int{408, 425, 429, 500, 503} {
			all = append(all, scene{what: fmt.Sprintf("%d, %q", status, wish.header), stream: fiveStreams[i%5],
				answers: []script{say(head(status, wish.header, "Content-Length: 0"))}, allowed: only(outbox.Wait), wait: wish.wait})
		}
	}
	conflict := say(answerOf(409, 1))
	for _, stream := range fiveStreams {
		for _, lost := range []script{say(""), say(soundAnswer[:20])} {
			all = append(all, scene{what: "a lost answer, then 409", stream: stream, answers: []script{lost, conflict}, allowed: func(send int, c outbox.Class) bool {
				return c == []outbox.Class{outbox.Ambiguous, map[bool]outbox.Class{true: outbox.Stored, false: outbox.Poison}[stream == ledger.Tickets]}[send]
			}})
		}
		all = append(all, scene{what: "a 503, then 409", stream: stream, answers: []script{say(answerOf(503, 0)), conflict}, allowed: func(send int, c outbox.Class) bool {
			return c == []outbox.Class{outbox.Wait, outbox.Poison}[send]
		}})
	}
	return all
}

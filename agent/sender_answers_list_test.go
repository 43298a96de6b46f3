package agent

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

var fiveStreams = []string{ledger.Tickets, ledger.Events, ledger.TagValues, ledger.Targets, ledger.Memos}

// statusClass is the outcome table, written down a second time.
func statusClass(status int) outbox.Class {
	switch {
	case status == 400, status == 409, status == 422:
		return outbox.Poison
	case status == 401, status == 403:
		return outbox.Key
	case status == 413:
		return outbox.TooLarge
	case status == 408, status == 425, status == 429, status >= 500 && status <= 599 && status != 501 && status != 505:
		return outbox.Wait
	case status >= 200 && status <= 299:
		return outbox.Stored
	case status >= 100 && status <= 199 && status != 101:
		return outbox.Ambiguous // not the last word, and no other comes
	}
	return outbox.Path
}

// only allows these classes in every Send.
func only(classes ...outbox.Class) func(int, outbox.Class) bool {
	return func(_ int, c outbox.Class) bool { return slices.Contains(classes, c) }
}

func unsaved(_ int, c outbox.Class) bool { return c != outbox.Stored }

var (
	twoHundred = regexp.MustCompile(`^HTTP/\d\.\d 2\d\d\b`)
	interim    = regexp.MustCompile(`^HTTP/\d\.\d 1\d\d\b`)
	headEnd    = regexp.MustCompile(`\r?\n\r?\n`)
)

// ownError is the service's error body, of which the specification shows the fields.
const ownError = `{"httpStatusCode":1,"message":"so it is","errorCode":7,"correlationId":"c-9"}`

// noAnswer says that a body makes a 2xx worthless: a page for browsers, or the service's own error.
func noAnswer(body string) bool {
	return strings.Contains(body, "<html>") || strings.Contains(body, ownError) || len(body) > 64<<10 && strings.HasPrefix(body, "x")
}

// saves says whether a text begins with the whole head of a 2xx, interim answers before it or not.
func saves(text string) bool {
	for {
		end := headEnd.FindStringIndex(text)
		if end == nil || !interim.MatchString(text) {
			return end != nil && twoHundred.MatchString(text) && !noAnswer(text[end[1]:])
		}
		text = text[end[1]:]
	}
}

// say answers with a text.
func say(text string) script {
	return func(c net.Conn) bool {
		n, _ := io.WriteString(c, text)
		return saves(text[:n])
	}
}

// sayAndHold answers, and leaves it to the client to end the connection.
func sayAndHold(text string) script {
	return func(c net.Conn) bool {
		stored := say(text)(c)
		hold(c)
		return stored
	}
}

// drip answers a byte a second; again makes it begin anew at the end, for ever.
func drip(text string, fast int, again bool) script {
	return func(c net.Conn) bool {
		n, err := io.WriteString(c, text[:fast])
		sent := text[:n]
		for i := fast; err == nil && (again || i < len(text)); i++ {
			<-time.After(time.Second)
			_, err = c.Write([]byte{text[i%len(text)]})
			if err == nil && len(sent) < 1000 {
				sent += text[i%len(text) : i%len(text)+1]
			}
		}
		return saves(sent)
	}
}

const hundredMB = 100 << 20

// heapMost is the most memory in use that a flood has seen.
var heapMost struct {
	sync.Mutex
	bytes uint64
}

// flood answers with a text, and then with 100 MB of another.
func flood(text, again string) script {
	chunk := []byte(strings.Repeat(again, (1<<20)/len(again)+1))
	return func(c net.Conn) bool {
		stored := say(text)(c)
		for sent := 0; sent < hundredMB; sent += len(chunk) {
			_, err := c.Write(chunk)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heapMost.Lock()
			heapMost.bytes = max(heapMost.bytes, m.HeapInuse)
			heapMost.Unlock()
			if err != nil {
				break
			}
		}
		return stored
	}
}

// bomb is 100 MB of zeros in 100 KB.
var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	for range 100 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	return b.String()
})

func head(status int, more ...string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\n", status, http.StatusText(status), strings.Join(append(more, ""), "\r\n"))
}

// answerOf is a status with one of the bodies that services, gateways and portals give.
func answerOf(status, kind int) string {
	if status < 200 || status == 204 || status == 304 {
		return head(status) + []string{"", "unasked"}[kind%2*min(1, status/200)]
	}
	switch kind % 5 {
	case 0:
		return head(status, "Content-Length: 0")
	case 1:
		return head(status, "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(ownError))) + ownError
	case 2:
		return head(status, "Content-Type: text/html", "Transfer-Encoding: chunked") + "6\r\n<html>\r\n0\r\n\r\n"
	case 3:
		return head(status, "Connection: close") + "<html>until the end"
	}
	return strings.Replace(head(status), "1.1", "1.0", 1) + ownError
}

// statuses: each from 100 to 599 for each stream, in memory over TLS, and once over a socket.
func statuses() (all []scene) {
	for status := 100; status <= 599; status++ {
		for i, stream := range fiveStreams {
			kind, class := status+i, statusClass(status)
			page := strings.Contains(answerOf(status, kind), "<html>")
			if class == outbox.Stored && noAnswer(answerOf(status, kind)) {
				class = outbox.Path
			}
			sc := scene{what: fmt.Sprintf("status %d, body %d", status, kind%5), stream: stream, page: page, hasty: true, keep: kind%5 < 3,
				answers: []script{say(answerOf(status, kind))}, allowed: only(class)}
			if status < 200 && status != 101 {
				sc.hasty, sc.keep, sc.answers = false, false, []script{sayAndHold(answerOf(status, kind))}
			}
			all = append(all, sc)
			if sc.hasty && status%5 == i {
				sc.socket = true
				all = append(all, sc)
			}
		}
	}
	upgrade := head(101, "Connection: Upgrade", "Upgrade: anything")
	return append(all, scene{what: "another protocol", stream: ledger.Tickets, answers: []script{sayAndHold(upgrade)}, allowed: only(outbox.Path)})
}

// cuts: the connection ends after each byte of an answer, with and without TLS, by an end and by a reset.
func cuts() (all []scene) {
	reset := func(c net.Conn) net.Conn {
		c.(*net.TCPConn).SetLinger(0)
		return c
	}
	for n, text := range []string{
		head(200, "Content-Type: application/json", "Content-Length: 11") + `{"saved":1}`,
		head(200, "Transfer-Encoding: chunked") + "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
		head(103, "Link: x") + head(201, "Content-Length: 2") + "{}",
		head(400, "Content-Length: 24") + `{"message":"bad ticket"}`,
		head(503, "Retry-After: 7", "Content-Length: 0"),
		head(302, "Location: http://portal.example/login", "Content-Length: 0"),
		strings.Replace(head(200), "1.1", "1.0", 1) + `{"saved":1}`,
	} {
		last := strings.LastIndex(text, "HTTP/")
		known := last + strings.Index(text[last:], "\r\n\r\n") + 4
		var status int
		fmt.Sscan(text[last+9:last+12], &status)
		for at := range len(text) + 1 {
			class := outbox.Ambiguous
			if at >= known && status >= 300 || at == len(text) {
				class = statusClass(status) // what a success says counts when all of it is there
			}
			sc := scene{what: fmt.Sprintf("answer %d cut after %d bytes", n, at), stream: fiveStreams[at%5], hasty: true,
				answers: []script{say(text[:at])}, allowed: only(class)}
			if at == known && n == 6 { // without a length nothing at all is as whole as anything, but for TLS, which says where the end is
				sc.allowed = only(outbox.Stored, outbox.Ambiguous)
			}
			plain, socket, torn := sc, sc, sc
			plain.plain, socket.socket, torn.socket = true, true, true
			torn.what, torn.wire, torn.allowed = torn.what+", reset", reset, func(_ int, c outbox.Class) bool { return c == outbox.Ambiguous || sc.allowed(0, c) }
			all = append(all, sc, plain, socket, torn)
		}
	}
	return all
}

// slow: answers that take their time, and such that never come.
func slow() (all []scene) {
	const ok = "HTTP/1.1 204 OK\r\n\r\n"
	add := func(what string, class outbox.Class, answers ...script) {
		for i, stream := range fiveStreams {
			all = append(all, scene{what: what, stream: stream, plain: i%2 == 0, answers: answers, allowed: only(class)})
		}
	}
	long := head(200, "X-Long: "+strings.Repeat("x", 99), "Content-Length: 0")
	add("a byte a second", outbox.Ambiguous, drip(long, 0, false))
	for i := range all {
		all[i].late = true
	}
	add("a byte a second, in time", outbox.Stored, drip(ok, 0, false))
	add("endless headers at a byte a second", outbox.Ambiguous, drip(head(200)[:17]+"X: y\r\n", 17, true))
	add("endless interim answers at a byte a second", outbox.Ambiguous, drip(head(102), 0, true))
	for _, status := range []int{200, 400, 401, 404, 500} {
		class := statusClass(status)
		if class == outbox.Stored {
			class = outbox.Ambiguous // what would it have said?
		}
		text := head(status, "Content-Length: 9999")
		add(fmt.Sprint("the body of a ", status, " a byte a second"), class, drip(text+strings.Repeat("[", 99), len(text), false))
		add(fmt.Sprint("half the body of a ", status, ", then nothing"), class, sayAndHold(text+"["))
		text = head(status, "Transfer-Encoding: chunked")
		add(fmt.Sprint("endless chunks of a ", status), class, drip(text+strings.Repeat("1\r\n[\r\n", 99), len(text), false))
	}
	nothing := sayAndHold("")
	add("no answer, five times", outbox.Ambiguous, nothing, nothing, nothing, nothing, nothing)
	add("half a head, then nothing", outbox.Ambiguous, sayAndHold("HTTP/1.1 200 O"))
	for i := range 6 {
		sc := scene{what: "nobody reads", stream: fiveStreams[i%5], plain: i%2 == 0, answers: []script{nothing}, early: hold, allowed: unsaved}
		sc.early = func(c net.Conn) {
			b := make([]byte, 1)
			for ; ; <-time.After(time.Second) {
				if _, err := c.Read(b); err != nil {
					return
				}
			}
		}
		all = append(all, sc)
	}
	return all
}

// huge: answers of 100 MB in each of their parts.
func huge() (all []scene) {
	add := func(what string, class outbox.Class, a script) {
		for i, stream := range fiveStreams[:3] {
			all = append(all, scene{what: what, stream: stream, plain: i > 0, socket: i == 2, hasty: true, answers: []script{a}, allowed: only(class)})
		}
	}
	line := strings.Repeat("x", 1000)
	for _, status := range []int{200, 400, 401, 503} {
		class, nothing := statusClass(status), statusClass(status)
		if status == 200 {
			class, nothing = outbox.Path, outbox.Ambiguous // it is no JSON; and where no byte of the body came, who knows
		}
		add(fmt.Sprint("100 MB of a ", status), class, flood(head(status, fmt.Sprint("Content-Length: ", hundredMB)), line))
		add(fmt.Sprint("100 MB of chunks of a ", status), class, flood(head(status, "Transfer-Encoding: chunked"), "3e8\r\n"+line+"\r\n"))
		add(fmt.Sprint("100 MB without a length of a ", status), class, flood(head(status), line))
		add(fmt.Sprint("100 MB packed in a ", status), class, func(c net.Conn) bool {
			text := head(status, "Content-Encoding: gzip", fmt.Sprint("Content-Length: ", len(bomb())))
			return say(text+bomb())(c) || statusClass(status) == outbox.Stored
		})
		add(fmt.Sprint("a chunk's 100 MB of extensions in a ", status), nothing, flood(head(status, "Transfer-Encoding: chunked")+"1;", line))
		add(fmt.Sprint("100 MB of trailers of a ", status), class, flood(head(status, "Transfer-Encoding: chunked")+"1\r\nx\r\n0\r\n", "X: "+line+"\r\n"))
	}
	add("a head of one line of 100 MB", outbox.Ambiguous, flood("HTTP/1.1 200 OK\r\nX: ", line))
	add("a head of 100 MB of lines", outbox.Ambiguous, flood("HTTP/1.1 200 OK\r\n", "X: "+line+"\r\n"))
	add("a reason of 100 MB", outbox.Ambiguous, flood("HTTP/1.1 200 ", line))
	add("100 MB of interim answers", outbox.Ambiguous, flood("", head(103, "Link: "+line)))
	return all
}

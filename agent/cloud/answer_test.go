package cloud

import (
	"net/http"
	"testing"
	"time"
)

// TestEveryStatus holds the outcome table: whoever moves a status to another class must do it here too.
func TestEveryStatus(t *testing.T) {
	named := map[int]Class{
		400: Poison, 422: Poison, 409: Poison, 401: Unauthorized, 403: Unauthorized, 413: TooLarge,
		408: Wait, 425: Wait, 429: Wait, 501: WrongAddress, 505: WrongAddress,
	}
	counts := map[Class]int{}
	for status := 100; status <= 599; status++ {
		want, ok := named[status]
		switch {
		case ok:
		case status >= 200 && status < 300:
			want = Stored
		case status >= 500:
			want = Wait
		default:
			want = WrongAddress
		}
		for op := SaveRunTickets; op <= AddDeviceMemo; op++ {
			one, many := classify(op, status, 1, 0), classify(op, status, 50, 0)
			if one != want || many != want {
				t.Errorf("%s answered %d: %s, a batch %s, want %s", op, status, one, many, want)
			}
		}
		counts[want]++
	}
	// No status outside 2xx may delete a record, and none at all is ambiguous.
	if counts[Stored] != 100 || counts[Ambiguous] != 0 {
		t.Errorf("classes: %v", counts)
	}
	for _, odd := range []int{0, -1, 99, 600, 999} {
		if got := classify(SaveRunTickets, odd, 1, 0); got != WrongAddress {
			t.Errorf("status %d: %s", odd, got)
		}
	}
}

func TestConflict(t *testing.T) {
	cases := []struct {
		op             Operation
		batch, attempt int
		want           Class
	}{
		{SaveRunTickets, 1, 0, Poison}, {SaveRunTickets, 1, 1, Stored}, {SaveRunTickets, 1, 4, Stored},
		{SaveRunTickets, 2, 1, Poison}, {SaveDiagnosticEvents, 1, 1, Poison}, {AddDeviceMemo, 1, 1, Poison},
	}
	for _, c := range cases {
		if got := classify(c.op, http.StatusConflict, c.batch, c.attempt); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	cases := []struct {
		header, date string
		want         time.Duration
	}{
		{"", "", 0}, {"soon", "", 0}, {"NaN", "", time.Second},
		{"0", "", time.Second}, {"-5", "", time.Second}, {"30", "", 30 * time.Second}, {"1.5", "", 1500 * time.Millisecond},
		{"86400", "", time.Hour}, {"1e300", "", time.Hour},
		{date(2 * time.Minute), "", 2 * time.Minute},
		{date(-time.Minute), "", time.Second}, {date(48 * time.Hour), "", time.Hour},
		// The service's clock is a day ahead of ours: only its own difference counts.
		{date(24*time.Hour + 90*time.Second), date(24 * time.Hour), 90 * time.Second},
		{date(24*time.Hour + 90*time.Second), "no date", time.Hour},
	}
	for _, c := range cases {
		h := http.Header{}
		h.Set("Retry-After", c.header)
		h.Set("Date", c.date)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q at %q: %v, want %v", c.header, c.date, got, c.want)
		}
	}
}

func TestErrorBodyIsReadLeniently(t *testing.T) {
	cases := []struct {
		body string
		want errorBody
		says string
	}{
		{`{"httpStatusCode":400,"message":"Bad ticket","errorCode":1207,"errorDescription":"sealOn is empty","correlationId":"c-1","timestamp":"2026-03-02T12:00:00Z"}`,
			errorBody{400, "Bad ticket", 1207, "sealOn is empty", "c-1"},
			"400 Bad Request: Bad ticket: sealOn is empty (error code 1207)"},
		{`{"statusCode": "400", "message": "quota\u0007\nused up"}`, errorBody{Status: 400, Message: "quota  used up"}, "400 Bad Request: quota  used up"},
		{`{"message":{"a":1},"errorCode":null,"correlationId":7}`, errorBody{Correlation: "7"}, "400 Bad Request"},
		{`<html>Bad Gateway</html>`, errorBody{}, "400 Bad Request"},
		{``, errorBody{}, "400 Bad Request"},
		{`[1]`, errorBody{}, "400 Bad Request"},
	}
	for _, c := range cases {
		got := parseErrorBody([]byte(c.body))
		if got != c.want || got.sentence(400) != c.says {
			t.Errorf("%s: got %+v, %q", c.body, got, got.sentence(400))
		}
	}
}

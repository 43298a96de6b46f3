package agent

import (
	"crypto/tls"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// Whatever the service is doing when the program is told to stop, the drain ends at once, and the record stays.
func TestADrainEndsWithItsContext(t *testing.T) {
	certs := newCertificates(t)
	all := statuses()
	scenes := append(slow(), all[len(all)-1])
	scenes = append(scenes, scene{what: "TLS that never begins", stream: ledger.Tickets, answers: []script{sayAndHold("")}, early: hold, allowed: unsaved})
	for _, sc := range scenes {
		if sc.socket {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			one := &trial{T: t, quit: 3 * time.Second}
			one.run("stop", sc, certs)
			if one.took > one.quit {
				t.Errorf("%s, %s: the drain ended %v after it was told to", sc.stream, sc.what, one.took-one.quit)
			}
		})
	}
}

// A certificate whose dates do not fit is said to be the clock's doubt, as long as nothing has confirmed the clock.
func TestAnUntimelyCertificateNamesTheClock(t *testing.T) {
	certs := newCertificates(t)
	synctest.Test(t, func(t *testing.T) {
		sc := scene{answers: []script{say(soundAnswer)}, tls: func(c certificates) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c.expired}} }}
		site, err := newWellSite(sc, certs)
		if err != nil {
			t.Fatal(err)
		}
		defer site.close()
		keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
		if err != nil {
			t.Fatal(err)
		}
		client, err := cloud.New(cloud.Options{URL: site.url(), Wire: cloud.DefaultWire(), Keys: keys, CAFile: certs.file, Dial: site.dial})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clock := clock.New(time.Now(), time.Time{}, clock.SteadyAfter, nil)
		send := func() outbox.Answer {
			return Sender{Client: client, Clock: clock}.Send(t.Context(), ledger.Tickets, []outbox.Record{{Body: []byte("{}")}})[0]
		}
		if r := send(); r.Class != outbox.Wait || !strings.Contains(r.Message, "clock yet (it is set)") {
			t.Errorf("with a clock that nothing has confirmed: %+v", r)
		}
		clock.Confirm()
		if r := send(); r.Class != outbox.Wait || strings.Contains(r.Message, "clock yet") || !strings.Contains(r.Message, "expired") {
			t.Errorf("with a clock that is confirmed: %+v", r)
		}
	})
}

package page

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"gauger/agent/control"
	"gauger/collectors/doors"
)

const (
	visitLasts = 4 * time.Hour // from the token to the end of a visit
	mostVisits = 16            // the oldest gives way
)

// Wrong tokens from one address are looked into and kept on record ten times, and then once in ten seconds. They hold back no right
// one: behind a tunnel everybody has the same address. What all show together is compared at most 200 times a second, which is nothing
// beside the 64 bits of 16 hexadecimal digits, and spares the processor.
var (
	tries     = doors.Rate{Every: 10 * time.Second, Burst: 10}
	allLogins = doors.Rate{Every: 5 * time.Millisecond, Burst: 200}
)

// people are those who have a token, and those of them who are here.
type people struct {
	cookie string
	tokens map[string][sha256.Size]byte // by name
	tries  *doors.Meter                 // of wrong ones, by address
	logins *doors.Meter                 // of all

	mu     sync.Mutex
	visits map[[sha256.Size]byte]*visit // by the hash of the cookie
}

// visit is one browser of somebody who has shown his token.
type visit struct {
	name string
	code string    // that the next form must bring; it is used once
	said string    // what was done last, until it was shown
	ends time.Time // by the clock that never steps
}

// newPeople takes the tokens by name; nil where there are none, and the page only shows.
func newPeople(site string, tokens map[string]string) *people {
	if len(tokens) == 0 {
		return nil
	}
	// A browser gives a cookie to every port of a host: two boxes behind one tunnel need names of their own.
	p := &people{cookie: "gauger-" + site, tokens: map[string][sha256.Size]byte{}, tries: doors.NewMeter(tries), logins: doors.NewMeter(allLogins), visits: map[[sha256.Size]byte]*visit{}}
	for name, token := range tokens {
		p.tokens[name] = sha256.Sum256([]byte(token))
	}
	return p
}

// enter begins a visit, and gives its cookie; empty: name and token do not belong together.
func (p *people) enter(name, token string) (cookie string) {
	got, want := sha256.Sum256([]byte(token)), p.tokens[name]
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.visits) >= mostVisits {
		var oldest [sha256.Size]byte
		for at, v := range p.visits {
			if o := p.visits[oldest]; o == nil || v.ends.Before(o.ends) {
				oldest = at
			}
		}
		delete(p.visits, oldest)
	}
	cookie = rand.Text()
	p.visits[sha256.Sum256([]byte(cookie))] = &visit{name: name, code: rand.Text(), ends: time.Now().Add(visitLasts)}
	return cookie
}

// visit is that of whoever asks; nil: he has shown no token. The lock is held while it is used.
func (p *people) visit(r *http.Request, use func(v *visit)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var v *visit
	if c, err := r.Cookie(p.cookie); err == nil {
		at := sha256.Sum256([]byte(c.Value))
		if v = p.visits[at]; v != nil && time.Now().After(v.ends) {
			delete(p.visits, at)
			v = nil
		}
	}
	use(v)
}

// who is whoever asks, with the code for his next form and what he has not been told yet; ok is false for one without a token.
func (p *people) who(r *http.Request) (found visit, ok bool) {
	p.visit(r, func(v *visit) {
		if ok = v != nil; ok {
			found = *v
		}
	})
	return found, ok
}

// fresh says that a form is from a page that was made for this visit, and was not used yet; use: it is used now.
func (p *people) fresh(r *http.Request, use bool) (fresh bool) {
	p.visit(r, func(v *visit) {
		fresh = v != nil && subtle.ConstantTimeCompare([]byte(r.PostFormValue("code")), []byte(v.code)) == 1
		if fresh && use {
			v.code = rand.Text()
		}
	})
	return fresh
}

// stale says why a form must not be followed; seen is a hash of what it says now that it is about, which the form has as it said
// so when it was made; sure: it is used now.
func (p *people) stale(r *http.Request, seen string, sure bool) string {
	const used = "This form was used already, or is from an earlier visit. Look whether it was done before you do it again."
	switch {
	case !p.fresh(r, false):
		return used
	case r.PostFormValue("seen") != seen:
		return "It was changed meanwhile. Look again at what stands here now."
	case sure && !p.fresh(r, true):
		return used
	}
	return ""
}

// tell keeps what was done for the next page.
func (p *people) tell(r *http.Request, said string) {
	p.visit(r, func(v *visit) {
		if v != nil {
			v.said = said
		}
	})
}

func (p *people) serve(s *site, mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { s.loginForm(w, r, http.StatusOK, "") })
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /do/{act}", s.do)
	mux.HandleFunc("POST /do/{act}", s.do)
}

// peer is the address that a request comes from.
func peer(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown address"
	}
	return cmp.Or(doors.PeerAddress(net.TCPAddrFromAddrPort(at)), "the box itself")
}

func (s *site) loginForm(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	s.writeForm(w, status, formPage{Title: "Who are you?", Action: "/login", Button: "Come in", Back: "/", Wrong: wrong,
		Hidden: []hidden{{"then", r.FormValue("then")}},
		Fields: []field{
			{Name: "name", Label: "Name", Kind: "text", Auto: "username", Value: r.PostFormValue("name"), Must: true},
			{Name: "token", Label: "Token", Kind: "password", Auto: "current-password", Must: true},
		}})
}

// errToken is for whoever shows a wrong token. It does not say whether there is such a name.
var errToken = errors.New("name and token do not belong together")

func (s *site) login(w http.ResponseWriter, r *http.Request) {
	from, name := peer(r), r.PostFormValue("name")
	cookie, wrong := "", "So many come in at once that nobody has looked at this token."
	wait := s.people.logins.Take("all")
	if wait == 0 {
		if cookie = s.people.enter(name, r.PostFormValue("token")); cookie == "" {
			wait, wrong = s.people.tries.Take(from), "Name and token do not belong together, as with too many before from this address."
		}
	}
	switch seconds := int(wait.Seconds()) + 1; {
	case wait > 0:
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		s.loginForm(w, r, http.StatusTooManyRequests, fmt.Sprintf("%s Try again in %d s; a right one is let in.", wrong, seconds))
		return
	case cookie == "":
		s.server.NoteLogin(control.PageUser(name, from), errToken)
		s.loginForm(w, r, http.StatusForbidden, "Name and token do not belong together.")
		return
	}
	s.server.NoteLogin(control.PageUser(name, from), nil)
	s.setCookie(w, cookie, int(visitLasts.Seconds()))
	then := r.PostFormValue("then")
	if u, err := url.Parse(then); err != nil || u.Host != "" || !strings.HasPrefix(then, "/do/") {
		then = "/"
	}
	http.Redirect(w, r, then, http.StatusSeeOther)
}

// setCookie gives a browser its cookie, or takes it back where seconds are negative. Scripts do not see it, and no other site's page
// can send it along.
func (s *site) setCookie(w http.ResponseWriter, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: s.people.cookie, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

func (s *site) logout(w http.ResponseWriter, r *http.Request) {
	if s.people.fresh(r, true) {
		s.people.visit(r, func(v *visit) { v.ends = time.Time{} })
		s.setCookie(w, "", -1)
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

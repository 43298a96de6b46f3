// Package cloud speaks the service's web interface: it encodes records into the bodies that the service takes, posts them and
// reads what the service answers. It knows nothing of tanks, queues or configuration files, so that it can be judged alone
// against the reference service in cloudtest. The subscription keys are a room of their own, package keys.
//
// Everything that the interface specification leaves open ("not shown") is a setting in Wire.
//
// cloud.go names the operations, wire.go the settings (mend.go those that can be lived without; path.go where things stand
// in an answer), client.go whoever speaks to the service. Bodies: ticket.go, event.go, values.go, which sets.go joins; check.go reads those
// that others have made. A call goes from post.go or query.go to exchange.go, which tries the keys, each with one HTTP request
// (scopes.go tells a key that is refused from an operation that is);
// answer.go says what came back, without a secret, and refusal.go which answers that call themselves a success are none. login.go has the operations about keys.
//
// # Decisions
//
// Every eight bytes of a known secret are hidden in what comes from outside, whatever their case: a text may be cut in the
// middle of a key.
//
// HTTP/1.1 only, whatever is offered: a connection that went silent then costs one request.
package cloud

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Operation is one of the nine operations of the service.
type Operation uint8

// The nine operations, in the order of the interface specification.
const (
	Authenticate Operation = iota
	RenewAPIKey
	SaveRunTickets
	SaveDiagnosticEvents
	SaveObjectTagValues
	SaveProductionTargets
	QueryDevices
	AddDeviceMemo
	GetEvents
)

// routes holds the method and the path of every operation. {alpha} and {beta} are the two literal segments,
// {arg} is the one part of the path that the caller gives, and doing is what an error says was being done.
var routes = [...]struct{ name, method, path, doing string }{
	Authenticate:          {"Authenticate", http.MethodPost, "/{alpha}/authenticate", "authenticating"},
	RenewAPIKey:           {"RenewAPIKey", http.MethodGet, "/v1/apikey/{arg}/renew", "renewing the key"},
	SaveRunTickets:        {"SaveRunTickets", http.MethodPost, "/{alpha}/runtickets", "saving run tickets"},
	SaveDiagnosticEvents:  {"SaveDiagnosticEvents", http.MethodPost, "/{beta}/events/diagnostic/save", "saving diagnostic events"},
	SaveObjectTagValues:   {"SaveObjectTagValues", http.MethodPost, "/v1/object/tagvalues", "saving tag values"},
	SaveProductionTargets: {"SaveProductionTargets", http.MethodPost, "/v1/production-targets", "saving production targets"},
	QueryDevices:          {"QueryDevices", http.MethodGet, "/v1/query-devices", "querying devices"},
	AddDeviceMemo:         {"AddDeviceMemo", http.MethodPost, "/v1/devices/{arg}/memos", "adding a memo"},
	GetEvents:             {"GetEvents", http.MethodGet, "/{alpha}/{arg}/events", "getting events"},
}

// String is the operation's name in the interface specification.
func (o Operation) String() string {
	if int(o) < len(routes) {
		return routes[o].name
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// stores says whether the operation stores something at the service.
func (o Operation) stores() bool {
	switch o {
	case SaveRunTickets, SaveDiagnosticEvents, SaveObjectTagValues, SaveProductionTargets, AddDeviceMemo:
		return true
	}
	return false
}

// Segments are the two literal path segments that the specification writes with neutral stand-ins.
// An empty one means the stand-in itself.
type Segments struct {
	Alpha string `yaml:"alpha" doc:"path segment of authenticate, run tickets and events. Default vAlpha"`
	Beta  string `yaml:"beta" doc:"path segment of diagnostic event saving. Default vBeta"`
}

// fill is the escaped path of an operation below the base address.
func (s Segments) fill(op Operation, arg string) string {
	alpha, beta := s.Alpha, s.Beta
	alpha = cmp.Or(alpha, "vAlpha")
	beta = cmp.Or(beta, "vBeta")
	return strings.NewReplacer(
		"{alpha}", url.PathEscape(alpha), "{beta}", url.PathEscape(beta), "{arg}", url.PathEscape(arg),
	).Replace(routes[op].path)
}

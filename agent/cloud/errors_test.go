package cloud

import (
	"net/http"
	"strings"
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

// What the service says of a refused record is told in its own words, in whatever shape they come; a page for a browser
// is no word of its.
func TestARefusalKeepsTheServicesOwnWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Bad Request","errorDescription":"tank TK-9 is closed","correlationId":"c-1"}`: "400 Bad Request: tank TK-9 is closed",
		"tank TK-9 is closed\r\n":                "400 Bad Request: tank TK-9 is closed",
		`{"errors":{"tank":["TK-9 is closed"]}}`: `400 Bad Request: {"errors":{"tank":["TK-9 is closed"]}}`,
		"<html><body>Bad Request</body></html>":  "400 Bad Request",
		"the key primary-key-value may not":      "400 Bad Request: the key (hidden) may not",
		`["` + strings.Repeat("x", 1000) + `"]`:  `400 Bad Request: ["` + strings.Repeat("x", 395) + "...",
	} {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value", Fault: func(cloudtest.Call) *cloudtest.Fault {
			return &cloudtest.Fault{Status: http.StatusBadRequest, Body: body}
		}}
		keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(Options{URL: "https://service.test", Keys: keys, Transport: service})
		if err != nil {
			t.Fatal(err)
		}
		if a := c.Post(t.Context(), SaveRunTickets, "", [][]byte{[]byte(`{}`)}, 0); a.Message != want || a.Class != Poison {
			t.Errorf("%s is told as %v %q, want %q", body, a.Class, a.Message, want)
		}
		c.Close()
	}
}

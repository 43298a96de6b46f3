package control

import (
	"strings"
	"testing"
)

// A service whose certificate is refused was reached: modem and cable are not to blame.
func TestARefusedCertificateIsNoCable(t *testing.T) {
	for why, want := range map[string]string{
		"the service's certificate is not accepted: x509: certificate is valid for other.example": "service.ca_file",
		"connect to 10.0.0.1:443: connection refused":                                             "modem",
	} {
		if got := unreachedHint(why); !strings.Contains(got, want) || want != "modem" && strings.Contains(got, "modem") {
			t.Errorf("%s: %q", why, got)
		}
	}
}

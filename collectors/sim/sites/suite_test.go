package sites

import (
	"sync"
	"testing"
)

// site of each kind, made once for all tests.
var siteOfEach = sync.OnceValue(func() map[string]*Site {
	made := map[string]*Site{}
	for _, k := range append(Kinds(true), Kinds(false)...) {
		made[k.Name] = k.Make(7, 0)
	}
	return made
})

// forEach runs a test on a site of each kind.
func forEach(t *testing.T, test func(t *testing.T, s *Site)) {
	t.Helper()
	for name, s := range siteOfEach() {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

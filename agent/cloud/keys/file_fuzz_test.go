package keys

import (
	"testing"
	"time"
)

// FuzzKeyFile gives any bytes for the key file and the one before it, as they are or with a right checksum: the ring opens,
// its status can be told, and what it writes can be read again.
func FuzzKeyFile(f *testing.F) {
	f.Add(true, []byte(`{"generation":7,"slots":[{"entries":[{"value":"k","source":"file","state":1}]},{}]}`), []byte(`{}`))
	f.Add(true, []byte(`{"generation":18446744073709551615,"slots":[{"entries":[{"value":""},{"value":"a b"}],"tries":-1,"warned":-9}]}`), []byte(`[]`))
	f.Add(true, []byte(`{"slots":[{"expires":{"at":"9999-12-31T23:59:59Z"},"renewed":"0001-01-01T00:00:00Z"},null,7]}`), []byte(`null`))
	f.Add(false, []byte("gauger-keys 1 00000000\n{}"), []byte{})
	f.Fuzz(func(t *testing.T, sealed bool, file, before []byte) {
		if sealed {
			file, before = append([]byte(fileHead(file)+"\n"), file...), append([]byte(fileHead(before)+"\n"), before...)
		}
		disk := &ramDisk{files: map[string][]byte{"keys": file, "keys.old": before}, left: -1}
		r := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
		inOrder, _ := r.Order(true)
		if len(inOrder) == 0 {
			t.Error("no key is left, though two were given")
		}
		for _, k := range inOrder {
			r.Rejected(k)
			r.Accepted(k, true)
		}
		r.Status()
		if _, found, err := r.file.load(); !found || err != nil {
			t.Errorf("what was written cannot be read: %v, %v", found, err)
		}
	})
}

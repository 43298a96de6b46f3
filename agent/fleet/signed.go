// Package fleet is how a site takes its configuration from a place that has those of many: signed, and a few sites first.
//
// signed.go: who has signed a file. pull.go: how it comes, and which sites take it.
//
// # Decisions
//
// The formats are those of tools that are there already: minisign, and ssh-keygen -Y sign with an ed25519 key. The key stands in the
// configuration that is at work; whoever has the web server alone can withhold a file, or bring back one that was signed before, which is
// judged and watched as any other.
package fleet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// Namespace of signatures by ssh-keygen: ssh-keygen -Y sign -n gauger -f KEY FILE.
const Namespace = "gauger"

// Key is a public key that configurations are signed with.
type Key struct {
	public ed25519.PublicKey
	id     []byte // of minisign's; nil: it is ssh's
}

// ParseKey reads a public key as minisign or ssh-keygen writes it.
func ParseKey(text string) (Key, error) {
	fields := strings.Fields(text)
	if len(fields) >= 2 && fields[0] == "ssh-ed25519" {
		blob, err := base64.StdEncoding.DecodeString(fields[1])
		r := sshReader{rest: blob, err: err}
		kind, public := r.text(), r.text()
		if r.err != nil || string(kind) != "ssh-ed25519" || len(public) != ed25519.PublicKeySize {
			return Key{}, errors.New("what follows ssh-ed25519 is no key; give the line of the .pub file")
		}
		return Key{public: public}, nil
	}
	if len(fields) == 0 {
		return Key{}, errors.New("empty")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[len(fields)-1])
	if err != nil || len(blob) != 42 || string(blob[:2]) != "Ed" {
		return Key{}, errors.New("no public key of minisign (56 characters that begin with RW), and none that begins with ssh-ed25519")
	}
	return Key{public: blob[10:], id: blob[2:10]}, nil
}

// Suffix of the file beside the configuration that has its signature.
func (k Key) Suffix() string {
	if k.id != nil {
		return ".minisig"
	}
	return ".sig"
}

// Verify says why a signature is not the key's of this text; nil: it is.
func (k Key) Verify(text, signature []byte) error {
	if k.id != nil {
		return k.verifyMinisign(text, signature)
	}
	return k.verifySSH(text, signature)
}

var errForged = errors.New("the signature is not of this text by the configured key")

func (k Key) verifyMinisign(text, signature []byte) error {
	lines := strings.Split(strings.ReplaceAll(string(signature), "\r\n", "\n"), "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[2], "trusted comment: ") {
		return errors.New("the signature is not of minisign's form")
	}
	one, err1 := base64.StdEncoding.DecodeString(lines[1])
	global, err2 := base64.StdEncoding.DecodeString(lines[3])
	if err := errors.Join(err1, err2); err != nil || len(one) != 74 || len(global) != ed25519.SignatureSize {
		return errors.New("the signature is not of minisign's form")
	}
	switch string(one[:2]) {
	case "Ed":
	case "ED":
		sum := blake2b.Sum512(text)
		text = sum[:]
	default:
		return fmt.Errorf("the signature is of a kind that is not known, %q", one[:2])
	}
	comment := strings.TrimPrefix(lines[2], "trusted comment: ")
	if !bytes.Equal(one[2:10], k.id) {
		return errors.New("the signature is by another key")
	}
	if !ed25519.Verify(k.public, text, one[10:]) || !ed25519.Verify(k.public, append(bytes.Clone(one[10:]), comment...), global) {
		return errForged
	}
	return nil
}

// verifySSH reads the form of OpenSSH's PROTOCOL.sshsig.
func (k Key) verifySSH(text, signature []byte) error {
	const magic = "SSHSIG"
	block, _ := pem.Decode(signature)
	if block == nil || block.Type != "SSH SIGNATURE" || !bytes.HasPrefix(block.Bytes, []byte(magic)) {
		return errors.New("the signature is not of ssh-keygen's form")
	}
	r := sshReader{rest: block.Bytes[len(magic):]}
	version, public, namespace, reserved, hash, signed := r.number(), r.text(), r.text(), r.text(), r.text(), r.text()
	key, inner := sshReader{rest: public, err: r.err}, sshReader{rest: signed, err: r.err}
	kind, raw := key.text(), key.text()
	method, sig := inner.text(), inner.text()
	switch {
	case r.err != nil || key.err != nil || inner.err != nil || version != 1:
		return errors.New("the signature is not of ssh-keygen's form")
	case string(namespace) != Namespace:
		return fmt.Errorf("the signature is for %q, not for %s: sign with -n %s", namespace, Namespace, Namespace)
	case string(kind) != "ssh-ed25519" || string(method) != "ssh-ed25519" || !bytes.Equal(raw, k.public):
		return errors.New("the signature is by another key")
	case string(hash) != "sha512":
		return fmt.Errorf("the signature is of a hash that is not known, %q", hash)
	}
	sum := sha512.Sum512(text)
	message := []byte(magic)
	for _, part := range [][]byte{namespace, reserved, hash, sum[:]} {
		message = append(binary.BigEndian.AppendUint32(message, uint32(len(part))), part...)
	}
	if len(sig) != ed25519.SignatureSize || !ed25519.Verify(k.public, message, sig) {
		return errForged
	}
	return nil
}

// sshReader reads ssh's numbers and texts one after the other.
type sshReader struct {
	rest []byte
	err  error
}

func (r *sshReader) number() uint32 {
	if r.err != nil || len(r.rest) < 4 {
		r.err = errors.Join(r.err, errors.New("cut short"))
		return 0
	}
	n := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return n
}

func (r *sshReader) text() []byte {
	n := r.number()
	if r.err != nil || uint64(n) > uint64(len(r.rest)) {
		r.err = errors.Join(r.err, errors.New("cut short"))
		return nil
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

// Package bundle makes the one archive that a site sends to whoever helps it, with no secret in it.
//
// bundle.go: the archive and its bound, and a copy of a store whose owner does not answer. hide.go: what is hidden of every part.
// secrets.go: where a box keeps its secrets.
//
// # Decisions
//
// What is hidden is decided twice, and neither knows of the other. The values that the box's secrets have are looked for in every
// part, in pieces and in each form that a program may have given them; and whatever stands where a secret would stand (a password
// in a URL, what follows a word such as token) goes, whoever wrote it there. A part that is written later needs no line here.
//
// The store of an agent that does not answer is never opened, but copied, and the copy is read: it may be frozen and hold its
// files, or be started again by systemd every few seconds.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MaxBytes of an archive: what a metered link or a mail can carry.
const MaxBytes = 5 << 20

// mostOfPart is kept of one part, in bytes: its end, which is the newest.
const mostOfPart = 2 << 20

// Part is a file of the archive.
type Part struct {
	Name  string // its file
	About string // what it is, for the table of contents
	Text  []byte
	Err   error // why it is not there, or not whole
}

// Write writes an archive of at most MaxBytes: a table of contents with what was found beforehand, and the parts as h leaves them. Where
// they are too much, the longest ones lose their beginnings.
func Write(w io.Writer, folder string, at time.Time, found []string, parts []Part, h *Hider) error {
	hidden := make([]Part, len(parts))
	for i, p := range parts {
		hidden[i] = Part{p.Name, p.About, []byte(h.Hide(string(lastOf(p.Text, mostOfPart)))), p.Err}
	}
	for {
		var b bytes.Buffer
		if err := archive(&b, folder, at, contents(found, hidden, h), hidden); err != nil {
			return err
		}
		if b.Len() < MaxBytes {
			_, err := w.Write(b.Bytes())
			return err
		}
		longest := 0
		for _, p := range hidden {
			longest = max(longest, len(p.Text))
		}
		for i, p := range hidden {
			if len(p.Text) > longest/2 {
				hidden[i].Text = lastOf(p.Text, longest/2)
			}
		}
	}
}

// lastOf a text are its last whole lines, in n bytes at most, with a first line that says so.
func lastOf(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	left := text[len(text)-n:]
	if i := bytes.IndexByte(left, '\n'); i >= 0 {
		left = left[i+1:]
	}
	return append(fmt.Appendf(nil, "(%d bytes before this line were left out)\n", len(text)-len(left)), left...)
}

func contents(found []string, parts []Part, h *Hider) []byte {
	var b strings.Builder
	for _, line := range found {
		b.WriteString(h.Hide(line) + "\n")
	}
	b.WriteString("\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "%-20s %8d bytes  %s\n", p.Name, len(p.Text), p.About)
		if p.Err != nil {
			fmt.Fprintf(&b, "%-20s but: %s\n", "", h.Hide(strings.ReplaceAll(p.Err.Error(), "\n", " ")))
		}
	}
	return []byte(b.String())
}

func archive(w io.Writer, folder string, at time.Time, contents []byte, parts []Part) error {
	zip := gzip.NewWriter(w)
	files := tar.NewWriter(zip)
	for _, p := range append([]Part{{Name: "CONTENTS.txt", Text: contents}}, parts...) {
		if len(p.Text) == 0 {
			continue
		}
		head := &tar.Header{Name: folder + "/" + p.Name, Mode: 0o600, Size: int64(len(p.Text)), ModTime: at, Format: tar.FormatPAX}
		err := files.WriteHeader(head)
		if err == nil {
			_, err = files.Write(p.Text)
		}
		if err != nil {
			return fmt.Errorf("write %s into the archive: %w", p.Name, err)
		}
	}
	for _, c := range []io.Closer{files, zip} {
		if err := c.Close(); err != nil {
			return fmt.Errorf("write the archive: %w", err)
		}
	}
	return nil
}

// CopyStore copies what is in a store, but for its keys, into a new folder beside other short-lived files.
func CopyStore(ctx context.Context, store string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "gauger-bundle-"); err != nil {
		return "", fmt.Errorf("copy the store: %w", err)
	}
	root, err := os.OpenRoot(store)
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil
	}
	if err == nil {
		err = errors.Join(copyFiles(ctx, root, folder), root.Close())
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy the store %s to %s, so that it can be looked into while nobody answers: %w", store, folder, err), os.RemoveAll(folder))
	}
	return folder, nil
}

// copyFiles copies plain files; nothing in the store leads out of it.
func copyFiles(ctx context.Context, root *os.Root, to string) error {
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		name := filepath.Join(to, path)
		switch {
		case e.IsDir():
			return os.MkdirAll(name, 0o700)
		case !e.Type().IsRegular(), strings.HasPrefix(e.Name(), "keys"), strings.HasSuffix(e.Name(), ".lock"), strings.Contains(e.Name(), ".damaged"):
			return nil
		}
		from, err := root.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		into, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(into, from)
		return errors.Join(err, into.Close())
	})
}

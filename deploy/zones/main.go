// Command zones packs Go's time zone database for gauger's config/zone: zones ZONEINFO.ZIP INTO.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: zones ZONEINFO.ZIP INTO")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "zones:", err)
		os.Exit(1)
	}
}

// pack writes the database as one deflated text: lines of name, offset and length, an empty line, and the zones, each
// once, since many names mean the same.
func pack(from, into string) error {
	r, err := zip.OpenReader(from)
	if err != nil {
		return fmt.Errorf("open the zone database: %w", err)
	}
	defer r.Close()
	var index strings.Builder
	var body []byte
	places := map[string]int{}
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		data, err := read(f)
		if err != nil {
			return fmt.Errorf("read zone %s: %w", f.Name, err)
		}
		at, known := places[string(data)]
		if !known {
			at = len(body)
			places[string(data)] = at
			body = append(body, data...)
		}
		fmt.Fprintln(&index, f.Name, at, len(data))
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n%s", index.String(), body)
	if err = errors.Join(err, w.Close(), os.MkdirAll(filepath.Dir(into), 0o755)); err != nil {
		return fmt.Errorf("pack the zone database: %w", err)
	}
	return os.WriteFile(into, out.Bytes(), 0o644)
}

func read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

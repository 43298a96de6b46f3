package fleet

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"time"
)

// Bounds of what is pulled.
const (
	mostText      = 256 << 10
	mostSignature = 8 << 10
	pullLimit     = time.Minute // for a file
)

// Address is the address of a site's file: {id} stands for its id.
func Address(from, id string) string { return strings.ReplaceAll(from, "{id}", id) }

// Takes says that a site is among those percent of all, by the hash of its id, that take a file first.
func Takes(id string, percent int) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash refuses nothing
	return int(h.Sum32()%100) < percent
}

// Pull fetches a file that is another one than that of etag, and believes it if the key has signed it. nil: it is the same.
func Pull(ctx context.Context, client *http.Client, address string, key Key, etag string) (text []byte, newer string, err error) {
	text, newer, err = get(ctx, client, address, etag, mostText)
	if err != nil || text == nil {
		return nil, etag, err
	}
	signature, _, err := get(ctx, client, address+key.Suffix(), "", mostSignature)
	if err != nil {
		return nil, etag, fmt.Errorf("its signature: %w", err)
	}
	if err := key.Verify(text, signature); err != nil {
		return nil, newer, fmt.Errorf("%s: %w; it is not taken", address, err)
	}
	return text, newer, nil
}

func get(ctx context.Context, client *http.Client, address, etag string, most int64) (text []byte, newer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotModified:
		return nil, etag, nil
	case answer.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("get %s: %s", address, answer.Status)
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err == nil && int64(len(text)) > most {
		err = errors.New("longer than a configuration may be")
	}
	if err != nil {
		return nil, "", fmt.Errorf("get %s: %w", address, err)
	}
	return text, answer.Header.Get("ETag"), nil
}

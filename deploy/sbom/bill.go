package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// part is a module that is linked, or Go's own library; its folder holds its licences.
type part struct{ path, version, folder string }

type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Serial     string      `json:"serialNumber"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
	Needs      []needs     `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licences []licence `json:"licenses,omitempty"`
	Purl     string    `json:"purl,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type needs struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// newBill writes down a program called name. graph is what `go mod graph` prints: a module and one that it needs a line.
func newBill(name, version string, sum [32]byte, built time.Time, parts []part, graph string) (*bill, error) {
	digest := hex.EncodeToString(sum[:])
	b := &bill{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Serial: fmt.Sprintf("urn:uuid:%s-%s-%s-%s-%s", digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]),
		Metadata: metadata{built.Format(time.RFC3339), component{
			Type: "application", Ref: name, Name: name, Version: version, Hashes: []hash{{"SHA-256", digest}},
		}},
	}
	refs := map[string]string{name: name} // by the module's path, whichever version the graph names
	for _, p := range parts {
		c := component{Type: "library", Ref: "pkg:golang/" + p.path + "@" + p.version, Name: p.path, Version: p.version}
		c.Purl = c.Ref
		ids, err := licencesIn(p.folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		for _, id := range ids {
			var l licence
			l.Licence.ID = id
			c.Licences = append(c.Licences, l)
		}
		refs[p.path] = c.Ref
		b.Components = append(b.Components, c)
	}
	b.Needs = needsOf(refs, graph)
	return b, nil
}

// needsOf is the part of the graph that is linked. Everything needs Go's library.
func needsOf(refs map[string]string, graph string) []needs {
	on := map[string][]string{}
	for path, ref := range refs {
		on[ref] = []string{}
		if path != "std" {
			on[ref] = append(on[ref], refs["std"])
		}
	}
	for line := range strings.Lines(graph) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		from, _, _ = strings.Cut(from, "@")
		to, _, _ = strings.Cut(to, "@")
		if refs[from] != "" && refs[to] != "" {
			on[refs[from]] = append(on[refs[from]], refs[to])
		}
	}
	var all []needs
	for ref, needed := range on {
		slices.Sort(needed)
		all = append(all, needs{ref, slices.Compact(needed)})
	}
	slices.SortFunc(all, func(a, b needs) int { return strings.Compare(a.Ref, b.Ref) })
	return all
}

// knownLicences have words that stand in no other. The two of BSD differ in one paragraph.
var knownLicences = []struct{ id, words, without string }{
	{"Apache-2.0", "Apache License Version 2.0", ""},
	{"Apache-2.0", "Apache License, Version 2.0 (the \"License\")", "Apache License Version 2.0"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms", "Neither the name"},
	{"BSD-3-Clause", "Neither the name", ""},
	{"EPL-2.0", "Eclipse Public License - v 2.0", ""},
	{"MIT", "Permission is hereby granted, free of charge, to any person", ""},
}

// licencesIn are the SPDX names of the licences in a module's folder.
func licencesIn(folder string) ([]string, error) {
	var text strings.Builder
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			text.Write(b)
		}
	}
	words := strings.Join(strings.Fields(text.String()), " ")
	var ids []string
	for _, l := range knownLicences {
		if strings.Contains(words, l.words) && (l.without == "" || !strings.Contains(words, l.without)) {
			ids = append(ids, l.id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no licence that is known here stands in %s: read it, and add its words to knownLicences", folder)
	}
	return ids, nil
}

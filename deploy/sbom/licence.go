package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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

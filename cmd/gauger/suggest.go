package main

import (
	"strings"

	"gauger/config"
)

// didYouMean is " (did you mean X?)" when one of the words is close to got, else nothing.
func didYouMean(got string, words []string) string {
	if w := nearest(got, words); w != "" {
		return " (did you mean " + w + "?)"
	}
	return ""
}

// nearest is the word that a person most probably meant by got: the only point of that name, whatever its device, else the
// one that is spelt most alike. Empty when none is close.
func nearest(got string, words []string) string {
	var ends []string
	for _, w := range words {
		if strings.HasSuffix(strings.ToLower(w), "/"+strings.ToLower(got)) {
			ends = append(ends, w)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return config.Nearest(got, words)
}

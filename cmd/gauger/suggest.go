package main

import (
	"slices"
	"strings"
)

// didYouMean is " (did you mean X?)" when one of the words is close to got, else nothing.
func didYouMean(got string, words []string) string {
	if w := nearest(got, words); w != "" {
		return " (did you mean " + w + "?)"
	}
	return ""
}

// nearest is the word that a person most probably meant by got: the only one that ends with it, or the one with the fewest
// letters to change, at most a third of them. Empty when none is close.
func nearest(got string, words []string) string {
	var ends []string
	best, least := "", max(1, len(got)/3)+1
	for _, w := range words {
		if strings.HasSuffix(strings.ToLower(w), "/"+strings.ToLower(got)) {
			ends = append(ends, w)
		}
		if d := editDistance(strings.ToLower(got), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return best
}

// editDistance counts the letters to insert, drop or change to make a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			cost := before[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(before[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}

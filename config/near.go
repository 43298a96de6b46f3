package config

import (
	"fmt"
	"slices"
	"strings"
)

// Nearest is the one of the words that a person most probably meant by got; empty when none is close.
func Nearest(got string, words []string) string {
	const longest = 64 // nobody writes such a key; it only costs time
	if len(got) > longest {
		return ""
	}
	best, least := "", max(1, min(3, len(got)/3))+1
	for _, w := range words {
		if strings.EqualFold(w, got) {
			return w
		}
		if len(w) > longest || len(w)-len(got) > least || len(got)-len(w) > least {
			continue
		}
		if d := distance(strings.ToLower(got), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their neighbour to make a into b.
func distance(a, b string) int {
	var before []int
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := prev[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(prev[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, make([]int, len(b)+1)
	}
	return prev[len(b)]
}

// suggest is the second half of a message about a word that is not one of those allowed: the one that was
// probably meant, else all of them.
func suggest(got string, words []string) string {
	if w := Nearest(got, words); w != "" {
		return fmt.Sprintf("did you mean %s?", w)
	}
	return "write one of: " + joinWords(words)
}

// joinWords names words for a person, the first forty at most.
func joinWords(words []string) string {
	const most = 40
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(slices.Concat(words[:most], []string{"..."}), ", ")
}

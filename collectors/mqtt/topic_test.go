package mqtt

import (
	"slices"
	"testing"
)

func TestTopicsUnderFilters(t *testing.T) {
	cases := []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/b/c", false}, {"a/b", "a", false}, {"a/b", "A/b", false},
		{"a/+", "a/b", true}, {"a/+", "a/", true}, {"a/+", "a", false}, {"a/+", "a/b/c", false},
		{"+/b", "a/b", true}, {"+", "a", true}, {"+", "/a", false}, {"+/+", "/a", true},
		{"a/#", "a", true}, {"a/#", "a/b/c", true}, {"a/#", "ab", false}, {"#", "a/b", true},
		{"a/+/c", "a/b/c", true}, {"a/+/c", "a/b/d", false}, {"a/+/#", "a/b", true}, {"a/+/#", "a", false},
		{"#", "$SYS/load", false}, {"+/load", "$SYS/load", false}, {"$SYS/#", "$SYS/load", true},
	}
	for _, c := range cases {
		if got := matches(c.filter, c.topic); got != c.want {
			t.Errorf("%s with %s: %v", c.filter, c.topic, got)
		}
	}
}

func TestNoFilterLiesWithinAnother(t *testing.T) {
	cases := []struct{ in, want []string }{
		{[]string{"a/b", "a/b"}, []string{"a/b"}},
		{[]string{"a/b", "a/+", "c"}, []string{"a/+", "c"}},
		{[]string{"a/b", "#", "a/#"}, []string{"#"}},
		{[]string{"a", "a/#"}, []string{"a/#"}},
		{[]string{"a/#", "a/+"}, []string{"a/#"}},
		{[]string{"a/+/c", "a/b/+"}, []string{"a/+/c", "a/b/+"}}, // neither holds the other
		{[]string{"#", "$SYS/load"}, []string{"#", "$SYS/load"}},
		{[]string{"+/b", "a/#"}, []string{"+/b", "a/#"}},
	}
	for _, c := range cases {
		if got := minimalFilters(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

func FuzzTopics(f *testing.F) {
	f.Add("a/+/#", "a/b", "a/b/c")
	f.Add("#", "$SYS/#", "$SYS/x")
	f.Fuzz(func(t *testing.T, wide, narrow, topic string) {
		if filterProblem(wide) != "" || filterProblem(narrow) != "" || topic == "" || wildcard(topic) {
			return
		}
		if covers(wide, narrow) && matches(narrow, topic) && !matches(wide, topic) {
			t.Errorf("%q covers %q, and yet not %q", wide, narrow, topic)
		}
		if matches(wide, topic) && !covers(wide, topic) {
			t.Errorf("%q matches %q and does not cover it", wide, topic)
		}
	})
}

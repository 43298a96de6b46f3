package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func module(t *testing.T, text string) string {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "LICENSE.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestBillHoldsWhatIsLinkedAndNoMore(t *testing.T) {
	mit := module(t, "Permission is hereby granted, free\n of charge, to any person")
	bsd := module(t, "Redistribution and use in source and binary forms\nNeither the name of")
	b, err := newBill("gauger", "1.2", [32]byte{1}, time.Unix(0, 0).UTC(),
		[]part{{"std", "1.26.8", bsd}, {"example.com/a", "v1.1.0", mit}, {"example.com/b", "v0.2.0", mit}},
		"gauger example.com/a@v1.0.0\ngauger example.com/testonly@v1.0.0\ngauger go@1.26\nexample.com/a@v1.1.0 example.com/b@v0.1.0\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Components) != 3 || b.Components[0].Licences[0].Licence.ID != "BSD-3-Clause" || b.Components[1].Licences[0].Licence.ID != "MIT" {
		t.Errorf("components: %+v", b.Components)
	}
	want := map[string][]string{
		"gauger":                          {"pkg:golang/example.com/a@v1.1.0", "pkg:golang/std@1.26.8"},
		"pkg:golang/example.com/a@v1.1.0": {"pkg:golang/example.com/b@v0.2.0", "pkg:golang/std@1.26.8"},
		"pkg:golang/example.com/b@v0.2.0": {"pkg:golang/std@1.26.8"},
		"pkg:golang/std@1.26.8":           {},
	}
	for _, n := range b.Needs {
		if !slices.Equal(n.On, want[n.Ref]) {
			t.Errorf("%s needs %v, want %v", n.Ref, n.On, want[n.Ref])
		}
	}
	if len(b.Needs) != len(want) {
		t.Errorf("%d rows of needs, want %d", len(b.Needs), len(want))
	}
}

func TestAModuleOfUnknownLicenceIsAnError(t *testing.T) {
	if b, err := newBill("gauger", "1", [32]byte{}, time.Time{}, []part{{"example.com/a", "v1", module(t, "All rights reserved.")}}, ""); err == nil {
		t.Errorf("no error, and %+v", b)
	}
}

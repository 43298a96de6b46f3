// Package boltfile reads the pages of a bbolt file by itself: no memory map, every offset checked, every page read once. So
// a damaged file can neither crash nor hang its reader, which bbolt's own check does not promise.
//
// What the file holds is the caller's matter: a Layout says which bucket tells the generation of a root, and which buckets
// must be there.
//
// Damaged pages are found by their own numbers. The file is surveyed once; a page is taken where its header says it is, and
// without a sound meta page the root with the highest generation that leads to no problem is believed. A branch's key must be
// its child's first key, since bbolt relies on it when it writes that page. What the disk cannot read counts as empty.
//
// In order: file.go (open, list of free pages), meta.go, page.go, tree.go (the walk), displaced.go (pages out of place).
package boltfile

package outbox_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

const filePage = 4096

// mutantKinds are the ways in which the proof damages a file. Each returns bytes of its own.
var mutantKinds = []mutantKind{
	{"bit", onBytes(func(rng *rand.Rand, file []byte) { flip(rng, file, 1) })},
	{"bits", onBytes(func(rng *rand.Rand, file []byte) { flip(rng, file, 2+rng.IntN(100)) })},
	{"zero page", onBytes(func(rng *rand.Rand, file []byte) { clear(pageOf(rng, file)) })},
	{"zero pages", onBytes(func(rng *rand.Rand, file []byte) {
		for range 2 + rng.IntN(6) {
			clear(pageOf(rng, file))
		}
	})},
	{"garbage page", onBytes(func(rng *rand.Rand, file []byte) { garbage(rng, pageOf(rng, file)) })},
	{"zero sector", onBytes(func(rng *rand.Rand, file []byte) { clear(sectorOf(rng, file)) })},
	{"garbage sector", onBytes(func(rng *rand.Rand, file []byte) { garbage(rng, sectorOf(rng, file)) })},
	{"page header", onBytes(func(rng *rand.Rand, file []byte) { garbage(rng, pageOf(rng, file)[rng.IntN(16):16]) })},
	{"page elements", onBytes(func(rng *rand.Rand, file []byte) { flip(rng, pageOf(rng, file)[16:80], 1+rng.IntN(8)) })},
	{"stale page", stale(func(*rand.Rand) int { return 1 })},
	{"stale pages", stale(func(rng *rand.Rand) int { return 2 + rng.IntN(10) })},
	{"copied page", onBytes(func(rng *rand.Rand, file []byte) { copy(pageOf(rng, file), bytes.Clone(pageOf(rng, file))) })},
	{"swapped pages", onBytes(swap)},
	{"one meta", onBytes(func(rng *rand.Rand, file []byte) { spoil(rng, file[rng.IntN(2)*filePage:][:filePage]) })},
	{"both metas", onBytes(func(rng *rand.Rand, file []byte) {
		spoil(rng, file[:filePage])
		spoil(rng, file[filePage:2*filePage])
	})},
	{"truncated", func(rng *rand.Rand, b *mutantBase) []byte { return bytes.Clone(b.file[:rng.IntN(len(b.file))]) }},
	{"cut at a page", func(rng *rand.Rand, b *mutantBase) []byte {
		return bytes.Clone(b.file[:(1+rng.IntN(len(b.file)/filePage-1))*filePage])
	}},
	{"zero length", func(*rand.Rand, *mutantBase) []byte { return nil }},
	{"appended", func(rng *rand.Rand, b *mutantBase) []byte { return append(bytes.Clone(b.file), noise(rng, 100_000)...) }},
	{"prefixed", func(rng *rand.Rand, b *mutantBase) []byte { return append(noise(rng, 20_000), b.file...) }},
	{"inserted", func(rng *rand.Rand, b *mutantBase) []byte {
		at := rng.IntN(len(b.file))
		return slices.Concat(b.file[:at], noise(rng, 10_000), b.file[at:])
	}},
	{"removed", func(rng *rand.Rand, b *mutantBase) []byte {
		at := rng.IntN(len(b.file))
		return slices.Concat(b.file[:at], b.file[min(at+1+rng.IntN(10_000), len(b.file)):])
	}},
	{"only garbage", func(rng *rand.Rand, _ *mutantBase) []byte { return noise(rng, 100_000) }},
	{"an older file", func(rng *rand.Rand, b *mutantBase) []byte {
		older := bytes.Clone(b.earlier[rng.IntN(len(b.earlier))])
		flip(rng, older, rng.IntN(3))
		return older
	}},
}

// fellBack are the kinds that can leave a file which is sound in itself and a commit older than it was: where that commit
// is younger than the high-water marks, nothing tells.
var fellBack = []string{"stale page", "stale pages", "an older file"}

// onBytes changes a copy of the sound file.
func onBytes(change func(rng *rand.Rand, file []byte)) func(*rand.Rand, *mutantBase) []byte {
	return func(rng *rand.Rand, b *mutantBase) []byte {
		file := bytes.Clone(b.file)
		change(rng, file)
		return file
	}
}

// stale puts pages of an earlier state in their places: writes that the disk has lost.
func stale(pages func(*rand.Rand) int) func(*rand.Rand, *mutantBase) []byte {
	return func(rng *rand.Rand, b *mutantBase) []byte {
		file, earlier := bytes.Clone(b.file), b.earlier[rng.IntN(len(b.earlier))]
		var differ []int
		for at := 0; at+filePage <= min(len(file), len(earlier)); at += filePage {
			if !bytes.Equal(file[at:at+filePage], earlier[at:at+filePage]) {
				differ = append(differ, at)
			}
		}
		for range min(pages(rng), len(differ)) {
			at := differ[rng.IntN(len(differ))]
			copy(file[at:at+filePage], earlier[at:])
		}
		return file
	}
}

// inUse finds the end of a file's content.
func inUse(file []byte) int {
	used := len(bytes.TrimRight(file, "\x00"))
	return max((used+filePage-1)/filePage, 1) * filePage
}

func pageOf(rng *rand.Rand, file []byte) []byte {
	at := rng.IntN(inUse(file)/filePage) * filePage
	return file[at : at+filePage]
}

func sectorOf(rng *rand.Rand, file []byte) []byte {
	at := rng.IntN(inUse(file)/512) * 512
	return file[at : at+512]
}

func flip(rng *rand.Rand, file []byte, bits int) {
	for range bits {
		file[rng.IntN(inUse(file))%len(file)] ^= 1 << rng.IntN(8)
	}
}

func garbage(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

func noise(rng *rand.Rand, most int) []byte {
	b := make([]byte, 1+rng.IntN(most))
	garbage(rng, b)
	return b
}

// spoil damages a page in one of several ways.
func spoil(rng *rand.Rand, page []byte) {
	switch rng.IntN(3) {
	case 0:
		clear(page)
	case 1:
		garbage(rng, page)
	default:
		flip(rng, page[16:80], 1+rng.IntN(3))
	}
}

func swap(rng *rand.Rand, file []byte) {
	a, b := pageOf(rng, file), pageOf(rng, file)
	was := bytes.Clone(a)
	copy(a, b)
	copy(b, was)
}

package main

import "time"

// wire is a serial line as the standard counts it: 11 bits a character, and 3.5 characters of silence between
// frames, 1.75 ms above 19200 baud (Modbus over Serial Line V1.02, 2.5.1.1).
type wire struct {
	Baud       int
	Turnaround time.Duration // how long a unit thinks
}

const bitsPerChar = 11

// requestChars is the length of a read request: unit, function, address, quantity, checksum.
const requestChars = 8

// answerChars is the length of the answer with so many registers: unit, function, byte count, data, checksum.
func answerChars(registers int) int { return 5 + 2*registers }

// chars is the time of n characters.
func (w wire) chars(n int) time.Duration {
	return time.Duration(n) * bitsPerChar * time.Second / time.Duration(w.Baud)
}

// gap is the silence that ends a frame.
func (w wire) gap() time.Duration {
	if w.Baud > 19200 {
		return 1750 * time.Microsecond
	}
	return w.chars(7) / 2
}

// read is the least time from one request's first character to the next one's.
func (w wire) read(registers int) time.Duration {
	return w.chars(requestChars+answerChars(registers)) + 2*w.gap() + w.Turnaround
}

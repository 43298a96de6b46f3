package outbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"gauger/outbox/boltfile"
	"gauger/outbox/receipts"
)

// The layout of a record's value, little-endian:
//
//	0  format version, 1
//	1  clock grade
//	2  reserved, 0
//	3  length of the address
//	4  CRC-32C over stream name, 0, key and the whole value but these four bytes
//	8  enqueue time, nanoseconds since 1970
//	16 configuration hash
//	20 address, then body
const (
	recordFormat = 1
	recordHeader = 20
	keyLen       = 8
)

// pageCost counts the bytes that an element with a value of n bytes takes of pages of 4 KiB that are full of its like:
// what the page has left over counts too, so that the quota means blocks of the disk.
func pageCost(n int) uint64 {
	const room = 4096 - boltfile.PageHeader
	size := boltfile.ElementSize + keyLen + n
	if size > room {
		return uint64(size+boltfile.PageHeader+4095) / 4096 * 4096
	}
	return uint64(4096 / (room / size))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errChecksum = errors.New("the checksum does not hold")

func seqKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, keyLen), seq)
}

// keySeq is the number that a key says; false: it is none. Numbers begin at 1.
func keySeq(key []byte) (seq uint64, ok bool) {
	if len(key) != keyLen {
		return 0, false
	}
	seq = binary.BigEndian.Uint64(key)
	return seq, seq > 0
}

// nameSum is the checksum of a name and a zero byte.
func nameSum(name string) uint32 {
	var buf [receipts.MaxStream + 4]byte
	return crc32.Update(0, castagnoli, append(append(buf[:0], name...), 0))
}

// recordSum is the checksum of a record's value under its key, from the nameSum of its stream on.
func recordSum(sum uint32, key, value []byte) uint32 {
	sum = crc32.Update(sum, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, value[:4])
	return crc32.Update(sum, castagnoli, value[8:])
}

// recordLen counts the bytes of a record's key and value together.
func recordLen(r Record) int { return keyLen + recordHeader + len(r.Address) + len(r.Body) }

// writeRecord writes key and value of a record into buf, which is recordLen long; sum is the nameSum of its stream.
func writeRecord(buf []byte, sum uint32, r Record) (key, value []byte) {
	key, value = buf[:keyLen:keyLen], buf[keyLen:]
	binary.BigEndian.PutUint64(key, r.Seq)
	value[0], value[1], value[2], value[3] = recordFormat, r.Clock, 0, byte(len(r.Address))
	binary.LittleEndian.PutUint64(value[8:], uint64(r.At.UnixNano()))
	binary.LittleEndian.PutUint32(value[16:], r.Config)
	copy(value[recordHeader:], r.Address)
	copy(value[recordHeader+len(r.Address):], r.Body)
	binary.LittleEndian.PutUint32(value[4:], recordSum(sum, key, value))
	return key, value
}

// checkRecord says why a value is not a sound record of the stream under that key.
func checkRecord(stream string, key, value []byte) error {
	seq, ok := keySeq(key)
	switch {
	case !ok:
		return fmt.Errorf("key %x in stream %s is no record's number", key, stream)
	case len(value) < recordHeader || len(value) < recordHeader+int(value[3]):
		return fmt.Errorf("record %d of stream %s has only %d bytes", seq, stream, len(value))
	case storedSum(value) != recordSum(nameSum(stream), key, value):
		return fmt.Errorf("record %d of stream %s: %w", seq, stream, errChecksum)
	case value[0] != recordFormat:
		return fmt.Errorf("record %d of stream %s has format %d, this program reads %d", seq, stream, value[0], recordFormat)
	}
	return nil
}

// decodeRecord checks the checksum and copies the record out of the file's memory.
func decodeRecord(stream string, key, value []byte) (Record, error) {
	r, err := readRecord(stream, key, value)
	r.Body = bytes.Clone(r.Body)
	return r, err
}

// readRecord checks the checksum; the body is still in the file's memory.
func readRecord(stream string, key, value []byte) (Record, error) {
	seq, _ := keySeq(key)
	if err := checkRecord(stream, key, value); err != nil {
		return Record{Seq: seq}, err
	}
	body := recordHeader + int(value[3])
	return Record{
		Seq:     seq,
		Address: string(value[recordHeader:body]),
		Body:    value[body:],
		At:      time.Unix(0, int64(binary.LittleEndian.Uint64(value[8:]))),
		Clock:   value[1],
		Config:  binary.LittleEndian.Uint32(value[16:]),
		sum:     storedSum(value),
	}, nil
}

// addressOf reads the address without the checksum, to choose what is decoded at all.
func addressOf(value []byte) []byte {
	if len(value) < recordHeader || len(value) < recordHeader+int(value[3]) {
		return nil
	}
	return value[recordHeader : recordHeader+int(value[3])]
}

// Everything that is no record (state, counts, attempts, the header of a dead letter) is sealed: CRC-32C over bucket, key,
// generation and content, and the generation, so that of two copies on a damaged file the younger is known.
const sealHeader = 12

func sealSum(bucket string, key, tail []byte) uint32 {
	sum := nameSum(bucket)
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, tail)
}

func seal(bucket string, key []byte, gen uint64, content []byte) []byte {
	v := make([]byte, sealHeader, sealHeader+len(content))
	binary.LittleEndian.PutUint64(v[4:], gen)
	v = append(v, content...)
	binary.LittleEndian.PutUint32(v, sealSum(bucket, key, v[4:]))
	return v
}

// unseal returns the content, still in the file's memory, and its generation.
func unseal(bucket string, key, v []byte) ([]byte, uint64, error) {
	if len(v) < sealHeader {
		return nil, 0, fmt.Errorf("value of %q in %s has only %d bytes", key, bucket, len(v))
	}
	if binary.LittleEndian.Uint32(v) != sealSum(bucket, key, v[4:]) {
		return nil, 0, fmt.Errorf("value of %q in %s: %w", key, bucket, errChecksum)
	}
	return v[sealHeader:], binary.LittleEndian.Uint64(v[4:]), nil
}

// storedSum is the checksum that a record's value carries.
func storedSum(value []byte) uint32 { return binary.LittleEndian.Uint32(value[4:]) }

// storedCost counts a record's bytes as the quota does.
func storedCost(value []byte) uint64 { return pageCost(len(value)) }

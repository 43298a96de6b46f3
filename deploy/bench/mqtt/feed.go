package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const topic = "bench/n"

// maxUnacked bounds the messages that the feed leaves unacknowledged.
const maxUnacked = 1000

// feed publishes n messages, each with a number and a time of its own, as fast as the broker takes them.
func feed(address string, n int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	hello := append([]byte{0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 4}, "feed"...)
	if _, err := conn.Write(append([]byte{0x10, byte(len(hello))}, hello...)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	answer := make([]byte, 4)
	if _, err := io.ReadFull(in, answer); err != nil {
		return err
	}
	if answer[0] != 0x20 || answer[3] != 0 {
		return errors.New("the broker does not let the feed in")
	}
	acked := make(chan struct{}, maxUnacked)
	failed := make(chan error, 1)
	go func() {
		answer := make([]byte, 4)
		for range n {
			if _, err := io.ReadFull(in, answer); err != nil {
				failed <- err
				return
			}
			<-acked
		}
		failed <- nil
	}()
	out := bufio.NewWriter(conn)
	began := time.Now().UnixMilli()
	for i := range n {
		select {
		case acked <- struct{}{}:
		default:
			if err := out.Flush(); err != nil {
				return err
			}
			select {
			case acked <- struct{}{}:
			case err := <-failed:
				return err
			}
		}
		if _, err := out.Write(publication(i, began)); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return <-failed
}

// publication is the packet of message i.
func publication(i int, began int64) []byte {
	payload := fmt.Sprintf(`{"n":%d,"ts":%d}`, i, began+int64(i))
	packet := []byte{0x32, byte(2 + len(topic) + 2 + len(payload)), 0, byte(len(topic))}
	packet = append(packet, topic...)
	packet = binary.BigEndian.AppendUint16(packet, uint16(i%65_000)+1)
	return append(packet, payload...)
}
